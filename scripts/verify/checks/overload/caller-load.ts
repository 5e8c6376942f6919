// Open and closed loops of requests from several client addresses, over raw connections: node:http's client would need more than the core of the load.
import { setTimeout as sleep } from "node:timers/promises";
import { type LoadConnection, openConnection, type ResponseSummary } from "../../../../bench/load/connection.ts";
import { readProcess } from "../../../../bench/measure/proc.ts";
import { describeFailures, describeLatencies, startLoad } from "../../traffic/open-loop.ts";

export interface RequestTemplate {
  /** The name under which reports count the request. */
  readonly kind: string;
  readonly port: number;
  /** The address of the client, in 127.0.0.0/8. */
  readonly localAddress: string;
  /** The HTTP request. `unique` has eight digits and differs between requests, so that no cache serves one and no two share a fetch. */
  write(unique: number): string;
  /** The length of a served response's body. With status 200, a rejection is shorter, and another error longer. */
  readonly bodyBytes: readonly [min: number, max: number];
}

export interface LoadPhase {
  readonly name: string;
  readonly seconds: number;
  readonly streams: readonly { readonly perSecond: number; readonly request: RequestTemplate }[];
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
  readonly cpuSeconds: number;
  readonly all: Counts;
  readonly kinds: ReadonlyMap<string, Counts>;
  /** The longest time between a request's due time and its sending: a delay of the load itself. */
  readonly lagMs: number;
  /** Other responses, lost connections, and requests that were not sent or got no response. */
  readonly failed: number;
  readonly failures: ReadonlyMap<string, number>;
}

const inTimeMs = 1_000;
/** Time for the last responses after the last phase. */
const drainMs = 2_000;
/** For each client address and port: as many as a process accepts of one address. */
const connectionsMax = 1_000;
let nextUnique = 10_000_000;

/** Sends the phases as open loops, without a pause between them. @param pid the measured process. */
export async function sendPhases(phases: readonly LoadPhase[], pid: number): Promise<readonly PhaseReport[]> {
  const connections = createConnections();
  const reports: Promise<PhaseReport>[] = [];
  for (const phase of phases) {
    const counter = createCounter(connections);
    const loads = phase.streams.map(({ perSecond, request }) =>
      startLoad({ perSecond, send: (_, dueMs) => counter.send(request, dueMs) }),
    );
    const cpuSecondsBefore = readProcess(pid).cpuSeconds;
    await sleep(phase.seconds * 1_000);
    const cpuSeconds = readProcess(pid).cpuSeconds - cpuSecondsBefore;
    const stopped = Promise.all(loads.map((load) => load.stop()));
    const report = stopped.then((loadReports) => {
      const failures = loadReports.flatMap((loadReport) => [...loadReport.failures]);
      return {
        ...phase,
        cpuSeconds,
        all: counter.all,
        kinds: counter.kinds,
        lagMs: Math.max(...loadReports.map((loadReport) => loadReport.lagMs)),
        failed: failures.reduce((sum, [, times]) => sum + times, 0),
        failures: new Map(failures),
      };
    });
    reports.push(report);
  }
  await sleep(drainMs);
  connections.close();
  return Promise.all(reports);
}

export interface ClosedLoop {
  /** Each sends its next request after its last response. */
  readonly clients: number;
  readonly seconds: number;
  /** The measured process. */
  readonly pid: number;
}

/** Returns the throughput, and the CPU time of a request. @throws Error if a request is not served. */
export async function sendInClosedLoop(template: RequestTemplate, { clients, seconds, pid }: ClosedLoop) {
  const connections = createConnections();
  const counter = createCounter(connections);
  const cpuSecondsBefore = readProcess(pid).cpuSeconds;
  const endMs = performance.now() + seconds * 1_000;
  const sendUntilEnd = async () => {
    while (performance.now() < endMs) {
      const failure = await counter.send(template, performance.now());
      if (failure !== undefined) throw new Error(`The capacity cannot be measured: ${failure}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, sendUntilEnd));
  connections.close();
  const served = counter.all.good + counter.all.late;
  return { perSecond: served / seconds, cpuSeconds: (readProcess(pid).cpuSeconds - cpuSecondsBefore) / served };
}

/** Sends requests and counts their responses. */
function createCounter(connections: Connections) {
  const all = createCounts();
  const kinds = new Map<string, Counts>();
  return {
    all,
    kinds,
    /** @returns why the request failed; undefined if it was served or rejected. */
    async send(template: RequestTemplate, dueMs: number): Promise<string | undefined> {
      const sent = connections.send(template);
      if (!sent) return undefined;
      const ofKind = kinds.get(template.kind) ?? createCounts();
      kinds.set(template.kind, ofKind);
      for (const counts of [all, ofKind]) counts.sent++;
      const response = await sent;
      const latencyMs = performance.now() - dueMs;
      const outcome = toOutcome(response, template, latencyMs);
      if (outcome === undefined) return `status ${response.status}, ${response.bodyBytes} bytes: ${response.excerpt}`;
      for (const counts of [all, ofKind]) {
        counts[outcome]++;
        if (outcome === "good" || outcome === "late") counts.latenciesMs.push(latencyMs);
      }
      return undefined;
    },
  };
}

function createCounts(): Counts {
  return { sent: 0, good: 0, late: 0, rejected: 0, latenciesMs: [] };
}

/** Undefined for a failed request. */
function toOutcome({ status, bodyBytes }: ResponseSummary, template: RequestTemplate, latencyMs: number) {
  if (status === 503) return "rejected";
  const [min, max] = template.bodyBytes;
  // The gateway's rejection for `Accept: application/json`.
  if (status === 200 && bodyBytes < min) return "rejected";
  if (status !== 200 || bodyBytes > max) return undefined;
  return latencyMs <= inTimeMs ? "good" : "late";
}

interface PendingRequest extends PromiseWithResolvers<ResponseSummary> {
  readonly text: string;
}

interface PooledConnection {
  start(request: PendingRequest): void;
  close(): void;
}

interface Pool {
  readonly open: Set<PooledConnection>;
  /** A queue: the next request takes the connection that has been free longest, since the server closes one that sends nothing for 10 s. */
  readonly free: PooledConnection[];
  readonly waiting: PendingRequest[];
}

type Connections = ReturnType<typeof createConnections>;

/** A pool of connections for each client address and port. A connection is opened when a request finds none free. */
function createConnections() {
  const pools = new Map<string, Pool>();
  return {
    /** Undefined, and nothing is sent, if each connection waits for a response, such as a rejection that is held back: so does its client. */
    send(template: RequestTemplate): Promise<ResponseSummary> | undefined {
      const key = `${template.localAddress} ${template.port}`;
      const pool = pools.get(key) ?? { open: new Set(), free: [], waiting: [] };
      pools.set(key, pool);
      if (pool.free.length === 0 && pool.open.size >= connectionsMax) return undefined;
      const request = { ...Promise.withResolvers<ResponseSummary>(), text: template.write(nextUnique++) };
      pool.waiting.push(request);
      if (pool.free.length === 0) addConnection(pool, template);
      startNext(pool);
      return request.promise;
    },
    /** Rejects all requests that have no response. */
    close() {
      for (const { open, waiting } of pools.values()) {
        for (const { reject } of waiting.splice(0)) reject(new Error("not sent"));
        for (const connection of open) connection.close();
      }
    },
  };
}

function addConnection(pool: Pool, { port, localAddress }: RequestTemplate): void {
  let pending: PendingRequest | undefined;
  const onLost = (error: Error) => {
    pool.open.delete(pooled);
    const index = pool.free.indexOf(pooled);
    if (index !== -1) pool.free.splice(index, 1);
    pending?.reject(error);
  };
  const connection: LoadConnection = openConnection({ port, localAddress, onLost });
  const pooled: PooledConnection = {
    start(request) {
      pending = request;
      connection.send(request.text, (response) => {
        pending = undefined;
        request.resolve(response);
        pool.free.push(pooled);
        startNext(pool);
      });
    },
    close() {
      connection.close();
      pending?.reject(new Error("no response"));
    },
  };
  pool.open.add(pooled);
  pool.free.push(pooled);
}

function startNext({ free, waiting }: Pool): void {
  if (waiting.length === 0) return;
  const connection = free.shift();
  const request = connection && waiting.shift();
  if (request) connection.start(request);
}

/** A line for the phase, and one for each kind of request. */
export function describePhase({ name, seconds, cpuSeconds, lagMs, failures, kinds }: PhaseReport): string {
  const cpuPercent = ((100 * cpuSeconds) / seconds).toFixed(0);
  const lines = [...kinds].map(([kind, { sent, good, late, rejected, latenciesMs }]) => {
    const rates = `${(good / seconds).toFixed(0)} of ${(sent / seconds).toFixed(0)}/s in time`;
    return `  ${kind}: ${rates}, late ${late}, rejected ${rejected}, ${describeLatencies(latenciesMs)}`;
  });
  const phase = `${name}, ${seconds} s, ${cpuPercent} % CPU, lag ${lagMs.toFixed(1)} ms, failures: ${describeFailures(failures)}`;
  return [phase, ...lines].join("\n      ");
}
