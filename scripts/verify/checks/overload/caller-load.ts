// Open and closed loops of requests from several client addresses, over raw connections: node:http's client would need more than the core of the load.
import { setTimeout as sleep } from "node:timers/promises";
import { openConnection, type ResponseSummary } from "../../../../bench/load/connection.ts";
import { readProcess } from "../../../../bench/measure/proc.ts";
import { quantile } from "../../../../bench/measure/quantile.ts";
import { describeFailures, describeLatencies, repeatIfLate } from "../../traffic/open-loop.ts";
import type { ClaimOptions } from "../../verification.ts";
import {
  type LoadTarget,
  type OverloadRun,
  type Priority,
  priorities,
  type RequestTemplate,
} from "./tested-processes.ts";

/** Requests per second of each class. */
export type Rates = Readonly<Record<Priority, number>>;

export interface MeasuredLoad {
  readonly name: string;
  readonly rates: Rates;
  /** At the same rates, before the measurement. */
  readonly rampSeconds: number;
  readonly seconds: number;
}

export interface LoadClients {
  readonly target: LoadTarget;
  requestOf(priority: Priority): RequestTemplate;
  /** Before the loads are sent again, because they were late. */
  onRepeat?(): void;
}

interface Counts {
  sent: number;
  /** Served within a second of the time at which the request was due. */
  good: number;
  late: number;
  /** Status 503, or 200 with a shorter body: the process is overloaded. */
  rejected: number;
  /** Of served requests, from the time at which each was due. */
  readonly latenciesMs: number[];
}

export interface PhaseReport {
  readonly name: string;
  readonly seconds: number;
  /** CPU time of the measured process. */
  cpuSeconds: number;
  readonly all: Counts;
  readonly classes: Readonly<Record<Priority, Counts>>;
  /** The longest time between a request's due time and its sending: a delay of the load itself. */
  lagMs: number;
  /** Other responses, lost connections, and requests that got no response. */
  readonly failures: Map<string, number>;
}

/** Fewer than a process admits at once, so that it rejects none, and enough that it is never idle. */
const capacityClients = 24;
/**
 * Limits for p99 of the served requests of each class. They are no small multiple of the p99 of a calm process, because at saturation a request waits
 * for four or five iterations of the event loop, of 5 ms each. Critical requests wait rather than being rejected (docs/overload.md).
 */
const p99MsMax = { critical: 500, normal: 200, background: 200 } as const satisfies Record<Priority, number>;
const inTimeMs = 1_000;
const burstEveryMs = 1;
/** Time for the last responses after the last phase. */
const drainMs = 2_000;
/** For each client address and port: as many as a process accepts of one address. */
const connectionsMax = 1_000;
let nextUnique = 10_000_000;

/**
 * Sends the loads one after another as open loops, without a pause between them, and returns the report of each.
 * @throws Error if requests were sent late five times.
 */
export function measureLoads(
  { target, requestOf, onRepeat = () => {} }: LoadClients,
  loads: readonly MeasuredLoad[],
  run: OverloadRun,
): Promise<readonly PhaseReport[]> {
  return repeatIfLate(run, async (attempt) => {
    if (attempt > 1) onRepeat();
    const connections = createConnections();
    const reports: PhaseReport[] = [];
    for (const { name, rates, rampSeconds, seconds } of loads) {
      const streams = priorities.map((priority) => ({ template: requestOf(priority), perSecond: rates[priority] }));
      await sendPhase(connections, streams, target.pid, createReport(`before ${name}`, rampSeconds));
      const report = createReport(name, seconds);
      await sendPhase(connections, streams, target.pid, report);
      reports.push(report);
    }
    await sleep(drainMs);
    connections.close();
    for (const report of reports) run.print(describePhase(report));
    return reports;
  });
}

interface LoadStream {
  readonly template: RequestTemplate;
  readonly perSecond: number;
}

async function sendPhase(
  connections: Connections,
  streams: readonly LoadStream[],
  pid: number,
  report: PhaseReport,
): Promise<void> {
  const cpuSecondsBefore = readProcess(pid).cpuSeconds;
  const sent = streams.map(() => 0);
  const startMs = performance.now();
  for (let nowMs = startMs; nowMs < startMs + report.seconds * 1_000; nowMs = performance.now()) {
    for (const [index, { template, perSecond }] of streams.entries()) {
      const dueMsOf = (number: number) => startMs + (number * 1_000) / perSecond;
      let number = sent[index] ?? 0;
      report.lagMs = Math.max(report.lagMs, nowMs - dueMsOf(number));
      for (; dueMsOf(number) <= nowMs; number++) sendCounted(connections, template, report, dueMsOf(number));
      sent[index] = number;
    }
    await sleep(burstEveryMs);
  }
  report.cpuSeconds = readProcess(pid).cpuSeconds - cpuSecondsBefore;
}

/** In a closed loop. Returns the throughput, and the CPU time of a request. @throws Error if a request is not served. */
export async function measureCapacity({ target, requestOf }: LoadClients, seconds: number) {
  const connections = createConnections();
  const report = createReport("capacity", seconds);
  const cpuSecondsBefore = readProcess(target.pid).cpuSeconds;
  const endMs = performance.now() + seconds * 1_000;
  const sendUntilEnd = async () => {
    while (performance.now() < endMs && report.failures.size === 0)
      await new Promise<void>((resolve) =>
        sendCounted(connections, requestOf("normal"), report, performance.now(), resolve),
      );
  };
  await Promise.all(Array.from({ length: capacityClients }, sendUntilEnd));
  connections.close();
  if (report.failures.size > 0)
    throw new Error(`The capacity cannot be measured: ${describeFailures(report.failures)}`);
  const served = report.all.good + report.all.late;
  return { perSecond: served / seconds, cpuSeconds: (readProcess(target.pid).cpuSeconds - cpuSecondsBefore) / served };
}

function createReport(name: string, seconds: number): PhaseReport {
  const createCounts = (): Counts => ({ sent: 0, good: 0, late: 0, rejected: 0, latenciesMs: [] });
  const classes = { critical: createCounts(), normal: createCounts(), background: createCounts() };
  return { name, seconds, cpuSeconds: 0, all: createCounts(), classes, lagMs: 0, failures: new Map() };
}

/** Nothing is sent or counted if each connection waits for a response, such as a rejection that is held back: so does its client. */
function sendCounted(
  connections: Connections,
  template: RequestTemplate,
  { all, classes, failures }: PhaseReport,
  dueMs: number,
  onEnd: () => void = () => {},
): void {
  const counts = [all, classes[template.priority]];
  const isSent = connections.send(template, (response) => {
    const latencyMs = performance.now() - dueMs;
    const outcome = toOutcome(response, template, latencyMs);
    if (outcome === undefined) {
      const failure = response instanceof Error ? response.message : `status ${response.status}: ${response.excerpt}`;
      failures.set(failure, (failures.get(failure) ?? 0) + 1);
    } else
      for (const ofClass of counts) {
        ofClass[outcome]++;
        if (outcome !== "rejected") ofClass.latenciesMs.push(latencyMs);
      }
    onEnd();
  });
  if (isSent) for (const ofClass of counts) ofClass.sent++;
}

/** Undefined for a failed request. */
function toOutcome(response: ResponseSummary | Error, { bodyBytesMin }: RequestTemplate, latencyMs: number) {
  if (response instanceof Error) return undefined;
  const { status, bodyBytes } = response;
  if (status === 503) return "rejected";
  if (status !== 200) return undefined;
  // The gateway's rejection for `Accept: application/json`.
  if (bodyBytes < bodyBytesMin) return "rejected";
  return latencyMs <= inTimeMs ? "good" : "late";
}

type OnEnd = (response: ResponseSummary | Error) => void;

interface PooledConnection {
  send(text: string, onEnd: OnEnd): void;
  close(): void;
}

interface Pool {
  readonly open: Set<PooledConnection>;
  /** A queue: the next request takes the connection that has been free longest, since the server closes one that sends nothing for 10 s. */
  readonly free: PooledConnection[];
}

type Connections = ReturnType<typeof createConnections>;

/** A pool of connections for each client address and port. A connection is opened when a request finds none free. */
function createConnections() {
  const pools = new Map<string, Pool>();
  return {
    /** @returns false if nothing is sent, because each connection waits for a response. */
    send(template: RequestTemplate, onEnd: OnEnd): boolean {
      const key = `${template.localAddress} ${template.port}`;
      const pool = pools.get(key) ?? { open: new Set(), free: [] };
      pools.set(key, pool);
      if (pool.free.length === 0 && pool.open.size >= connectionsMax) return false;
      const connection = pool.free.shift() ?? addConnection(pool, template);
      connection.send(template.write(nextUnique++), onEnd);
      return true;
    },
    /** Ends all requests that have no response. */
    close() {
      for (const { open } of pools.values()) for (const connection of open) connection.close();
    },
  };
}

function addConnection(pool: Pool, { port, localAddress }: RequestTemplate): PooledConnection {
  let pending: OnEnd | undefined;
  const end: OnEnd = (response) => {
    const onEnd = pending;
    pending = undefined;
    onEnd?.(response);
  };
  const onLost = (error: Error) => {
    pool.open.delete(pooled);
    const index = pool.free.indexOf(pooled);
    if (index !== -1) pool.free.splice(index, 1);
    end(error);
  };
  const connection = openConnection({ port, localAddress, onLost });
  const pooled: PooledConnection = {
    send(text, onEnd) {
      pending = onEnd;
      connection.send(text, (response) => {
        pool.free.push(pooled);
        end(response);
      });
    },
    close() {
      connection.close();
      end(new Error("no response"));
    },
  };
  pool.open.add(pooled);
  return pooled;
}

/** A line for the phase, and one for each class of requests. */
function describePhase({ name, seconds, cpuSeconds, lagMs, failures, classes }: PhaseReport): string {
  const cpuPercent = ((100 * cpuSeconds) / seconds).toFixed(0);
  const lines = priorities.map((priority) => {
    const { sent, good, late, rejected, latenciesMs } = classes[priority];
    const rates = `${(good / seconds).toFixed(0)} of ${(sent / seconds).toFixed(0)}/s in time`;
    return `  ${priority}: ${rates}, late ${late}, rejected ${rejected}, ${describeLatencies(latenciesMs)}`;
  });
  const phase = `${name}, ${seconds} s, ${cpuPercent} % CPU, lag ${lagMs.toFixed(1)} ms, failures: ${describeFailures(failures)}`;
  return [phase, ...lines].join("\n      ");
}

export function claimNoneFails({ name, failures }: PhaseReport, { claim }: OverloadRun): void {
  claim(`${name}: no request fails except by rejection`, failures.size === 0, { measured: describeFailures(failures) });
}

export function claimLatencies({ name, classes }: PhaseReport, { claim }: OverloadRun, options?: ClaimOptions): void {
  const limits = priorities.map((priority) => `${priority} ${p99MsMax[priority]} ms`);
  const p99Ms = priorities.map((priority) => quantile(classes[priority].latenciesMs, 0.99));
  claim(
    `${name}: p99 of served requests is at most: ${limits.join(", ")}`,
    priorities.every((priority, index) => (p99Ms[index] ?? Infinity) <= p99MsMax[priority]),
    { measured: p99Ms.map((ms) => `${ms.toFixed(0)} ms`).join(", "), ...options },
  );
}
