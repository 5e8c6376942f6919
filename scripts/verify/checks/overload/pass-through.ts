// The REST proxy passes responses of 1 KB and 70 KB through to 3,000 keep-alive connections.
import { setTimeout as sleep } from "node:timers/promises";
import { type LoadConnection, openConnection, type ResponseSummary } from "../../../../bench/load/connection.ts";
import { quantile } from "../../../../bench/measure/quantile.ts";
import { measureInTime } from "../../traffic/measure-in-time.ts";
import type { RequestTemplate } from "./caller-load.ts";
import { claimRejectionCost } from "./rejection-cost.ts";
import {
  createProcessStarter,
  type LoadTarget,
  type OverloadRun,
  type Priority,
  type TestedProcess,
} from "./tested-processes.ts";

const bodyKibs = [1, 70] as const;
const connectionCount = 3_000;
/** A process accepts 1,000 connections of each. */
const clientAddresses = 12;
/** Fewer than a process admits at once, so that it rejects none, and enough that it is never idle. */
const capacityClients = 24;
/** As multiples of the capacity, with the goal of the rate served, as a share of that at the capacity. */
const loads: readonly { readonly factor: number; readonly servedShareMin?: number }[] = [
  { factor: 0.7 },
  { factor: 1 },
  { factor: 2, servedShareMin: 0.9 },
  { factor: 5, servedShareMin: 0.8 },
  { factor: 10, servedShareMin: 0.6 },
];
const overloadFactor = 10;
const recoveryFactor = 0.5;
const recoverySeconds = 1;
const p99MsMax = { critical: 500, others: 200 };
const inTimeMs = 1_000;

const warmUpSeconds = 3;
const rampSeconds = 2;
/** Until the rejections that wait are sent. */
const drainMs = 1_500;
const burstEveryMs = 1;

/** @param seconds for which each load is measured. */
export async function checkPassThrough(seconds: number, run: OverloadRun): Promise<void> {
  const start = await createProcessStarter(run);
  if (!run.isControl) await claimRejectionCost({ kind: "rest-proxy", createRequest, seconds }, start, run);
  for (const kib of bodyKibs) {
    const tested = await start("rest-proxy", { ADMISSION: String(!run.isControl) });
    await checkBody(tested, kib, seconds, run);
  }
}

interface Report {
  served: number;
  rejected: number;
  failed: number;
  readonly latenciesMs: Readonly<Record<keyof typeof p99MsMax, number[]>>;
  /** The longest time between a request's due time and its sending. */
  lagMs: number;
}

async function checkBody(tested: TestedProcess, kib: number, seconds: number, run: OverloadRun): Promise<void> {
  const clients = await openClients(tested, kib, run);
  await clients.measureCapacity(warmUpSeconds);
  const capacity = await clients.measureCapacity(seconds);
  run.print(`${kib} KB: capacity ${capacity.toFixed(0)}/s`);
  let servedAtCapacity = Number.NaN;
  for (const { factor, servedShareMin } of loads) {
    const load = factor * capacity;
    const report = await measureLoad(clients, { perSecond: load, seconds, before: [[load, rampSeconds]] }, run);
    const perSecond = report.served / seconds;
    if (factor === 1) servedAtCapacity = perSecond;
    const name = `${kib} KB at ${factor}x`;
    run.print(
      `${name}: ${perSecond.toFixed(0)}/s served in time, ${report.rejected} rejected, lag ${report.lagMs.toFixed(0)} ms`,
    );
    run.claim(`${name}: no request fails except by rejection`, report.failed === 0, {
      measured: String(report.failed),
    });
    if (factor < 1) claimNoneRejected(name, report, run);
    if (servedShareMin === undefined) continue;
    claimLatencies(name, report, run);
    const share = perSecond / servedAtCapacity;
    run.claim(`${name}: at least ${servedShareMin * 100} % of the rate at 1x is served`, share >= servedShareMin, {
      measured: `${(share * 100).toFixed(0)} %: ${perSecond.toFixed(0)}/s of ${servedAtCapacity.toFixed(0)}/s`,
    });
  }
  const recovered = recoveryFactor * capacity;
  const fall = [
    [overloadFactor * capacity, rampSeconds],
    [recovered, recoverySeconds],
  ] as const;
  const report = await measureLoad(clients, { perSecond: recovered, seconds, before: fall }, run);
  claimNoneRejected(`${kib} KB, ${recoverySeconds} s after the load has fallen from ${overloadFactor}x`, report, run);
  clients.close();
}

function claimNoneRejected(name: string, { served, rejected }: Report, { claim }: OverloadRun): void {
  claim(`${name}: all requests are served in time`, served > 0 && rejected === 0, { measured: `${rejected} rejected` });
}

function claimLatencies(name: string, { latenciesMs }: Report, { claim }: OverloadRun): void {
  const p99 = { critical: quantile(latenciesMs.critical, 0.99), others: quantile(latenciesMs.others, 0.99) };
  claim(
    `${name}: p99 is at most ${p99MsMax.critical} ms of critical requests, ${p99MsMax.others} ms of others`,
    p99.critical <= p99MsMax.critical && p99.others <= p99MsMax.others,
    { measured: `${p99.critical.toFixed(0)} ms, ${p99.others.toFixed(0)} ms`, control: "fails" },
  );
}

interface OpenLoad {
  readonly perSecond: number;
  readonly seconds: number;
  /** Sent before the measurement. */
  readonly before: readonly (readonly [perSecond: number, seconds: number])[];
}

type Clients = Awaited<ReturnType<typeof openClients>>;

async function measureLoad(clients: Clients, { perSecond, before, seconds }: OpenLoad, run: OverloadRun) {
  const [report] = await measureInTime(run, async () => {
    for (const [rampPerSecond, seconds] of before) await clients.send(rampPerSecond, seconds);
    const report = await clients.send(perSecond, seconds);
    await sleep(drainMs);
    return [report];
  });
  return report;
}

/** A tenth of the requests is critical, three tenths are background. */
function priorityOf(number: number): Priority {
  const digit = number % 10;
  if (digit === 0) return "critical";
  return digit < 7 ? "normal" : "background";
}

async function openClients({ port }: TestedProcess, kib: number, run: OverloadRun) {
  const free: LoadConnection[] = [];
  const all: LoadConnection[] = [];
  let current = createReport();
  let number = 10_000_000;
  const onLost = () => void current.failed++;
  for (let index = 0; index < connectionCount; index++) {
    const localAddress = `127.0.0.${1 + (index % clientAddresses)}`;
    all.push(openConnection({ port, localAddress, onLost }));
    // Before the backlog of the listener is full.
    if (index % 100 === 0) await sleep(10);
  }
  free.push(...all);
  const close = () => all.splice(0).forEach((connection) => connection.close());
  run.onCleanup(close);

  /** A request that finds no free connection is not sent: its client waits for a response. */
  function sendOne(priority: Priority, dueMs: number, onResponse: () => void = () => {}): void {
    const connection = free.shift();
    if (!connection) return;
    const report = current;
    const text = toGet(priority, kib, number++);
    connection.send(text, (response) => {
      free.push(connection);
      count(report, priority, response, performance.now() - dueMs);
      onResponse();
    });
  }

  return {
    close,
    /** In a closed loop. */
    async measureCapacity(seconds: number): Promise<number> {
      current = createReport();
      const report = current;
      const endMs = performance.now() + seconds * 1_000;
      const sendUntilEnd = async () => {
        while (performance.now() < endMs) {
          await new Promise<void>((resolve) => sendOne("normal", performance.now(), resolve));
        }
      };
      await Promise.all(Array.from({ length: capacityClients }, sendUntilEnd));
      return report.served / seconds;
    },
    /** In an open loop. */
    async send(perSecond: number, seconds: number): Promise<Report> {
      current = createReport();
      const report = current;
      const startMs = performance.now();
      const requestCount = perSecond * seconds;
      for (let sent = 0; sent < requestCount; await sleep(burstEveryMs)) {
        const nowMs = performance.now();
        const dueMsOf = (index: number) => startMs + (index * 1_000) / perSecond;
        report.lagMs = Math.max(report.lagMs, nowMs - dueMsOf(sent));
        for (; sent < requestCount && dueMsOf(sent) <= nowMs; sent++) sendOne(priorityOf(sent), dueMsOf(sent));
      }
      return report;
    },
  };
}

function createRequest({ port }: LoadTarget): RequestTemplate {
  return {
    kind: "normal",
    port,
    localAddress: "127.0.0.1",
    write: (unique) => toGet("normal", 1, unique),
    bodyBytes: [0, Infinity],
  };
}

function toGet(priority: Priority, kib: number, unique: number): string {
  return `GET /v1/${priority}/${kib}k-${unique} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n`;
}

function createReport(): Report {
  return { served: 0, rejected: 0, failed: 0, latenciesMs: { critical: [], others: [] }, lagMs: 0 };
}

function count(report: Report, priority: Priority, { status }: ResponseSummary, latencyMs: number): void {
  if (status === 503) report.rejected++;
  else if (status !== 200) report.failed++;
  else {
    if (latencyMs <= inTimeMs) report.served++;
    report.latenciesMs[priority === "critical" ? "critical" : "others"].push(latencyMs);
  }
}
