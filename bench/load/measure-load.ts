// The only measuring loop: loads one process, or two at the same time, and measures one window.
import { setTimeout as sleep } from "node:timers/promises";
import type { Workload } from "../benchmark.ts";
import { readBusySecondsOfCores, readProcess } from "../measure/proc.ts";
import { quantile } from "../measure/quantile.ts";
import { createClosedLoop } from "./closed-loop.ts";
import { openConnection, type ResponseSummary, toBytes } from "./connection.ts";

/** One measurement. The requests and connections are those to each process. */
export interface LoadJob extends Required<Pick<Workload, "requests" | "primingRequests" | "connections" | "order">> {
  /** The processes to load and to measure, on core 0. */
  readonly processes: readonly { readonly port: number; readonly pid: number }[];
  readonly expectedStatus: 200 | 304;
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** The interval of a probe of the first process; 0 for none. */
  readonly probeEveryMs: number;
}

export interface WindowReport {
  readonly seconds: number;
  /** In the order of the job. */
  readonly processes: readonly ProcessReport[];
  /** The share of core 0 that other processes used during the window, 0 to 1. */
  readonly otherCpuShare: number;
  /** The share of core 1 that all processes used. Near 1, the load generator is the bottleneck and only CPU times are valid. */
  readonly loadCoreShare: number;
  /** The probe's latencies in the window; undefined without a probe. */
  readonly probeMs?: { readonly p99: number; readonly max: number };
}

export interface ProcessReport {
  readonly requests: number;
  readonly cpuSeconds: number;
  readonly rssBytesMax: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number };
}

const rssEveryMs = 100;
const cpuTimePollMs = 50;
/** The share of the core that the processes use when no other process disturbs them. */
const undisturbedShare = 0.9;
/** Warm-up and window end after this multiple of their length, even if the processes used less CPU time. */
const extensionMax = 3;

/**
 * Primes the processes' caches, warms them up (unless `order` is "once") and measures one window. `onWindow` is called when the window starts.
 * @throws Error if a connection fails, or if a response is wrong.
 */
export async function measureLoad(job: LoadJob, onWindow: () => void): Promise<WindowReport> {
  const pids = job.processes.map(({ pid }) => pid);
  const check = createResponseCheck(job.expectedStatus);
  const latencies = pids.map((): number[] => []);
  let counting = false;
  await prime(job);
  const loops = job.processes.map(({ port }, processIndex) =>
    createClosedLoop({
      port,
      connections: job.connections,
      requests: job.requests,
      onResponse(response, requestIndex) {
        check.count(response, requestIndex);
        if (counting) latencies[processIndex]?.push(response.latencyMs);
      },
    }),
  );
  try {
    if (job.order === "in turn") {
      for (const loop of loops) loop.run();
      await waitForCpuTime(pids, job.warmUpMs);
    }
    const probe = job.probeEveryMs === 0 ? undefined : startProbe(job.processes[0]?.port ?? 0, job.probeEveryMs);
    onWindow();
    counting = true;
    const loadEnd = job.order === "once" ? Promise.all(loops.map((loop) => loop.runOnce())) : undefined;
    const { processes, ...usage } = await measureUsage(pids, job.windowMs, loadEnd);
    counting = false;
    const probeMs = probe?.stop();
    await Promise.all(loops.map((loop) => loop.stop()));
    check.throwIfWrong();
    return {
      ...usage,
      processes: processes.map((process, index) => ({ ...process, ...summarizeLatencies(latencies[index] ?? []) })),
      ...(probeMs && { probeMs }),
    };
  } finally {
    for (const loop of loops) loop.close();
  }
}

/** Each response must have the expected status and the length of the first response of any process to the same request. */
function createResponseCheck(expectedStatus: number) {
  const lengths: number[] = [];
  let wrong = 0;
  let firstWrong = "";
  return {
    count({ status, bodyBytes }: ResponseSummary, requestIndex: number): void {
      const length = (lengths[requestIndex] ??= bodyBytes);
      if (status === expectedStatus && bodyBytes === length) return;
      wrong += 1;
      if (wrong === 1) firstWrong = `status ${status} and ${bodyBytes} bytes instead of ${length}`;
    },
    throwIfWrong(): void {
      if (wrong > 0) throw new Error(`${wrong} wrong responses under load, the first with ${firstWrong}.`);
    },
  };
}

async function prime({ processes, primingRequests, connections, expectedStatus }: LoadJob): Promise<void> {
  let failed = 0;
  const onResponse = ({ status }: ResponseSummary) => void (failed += Number(status !== expectedStatus));
  for (const { port } of processes) {
    const loop = createClosedLoop({ port, requests: primingRequests, connections, onResponse });
    await loop.runOnce();
    loop.close();
  }
  if (failed > 0) throw new Error(`${failed} priming requests got another status than ${expectedStatus}.`);
}

/** 0 for a process that has ended: the load's connections report that. */
function readRss(pid: number): number {
  try {
    return readProcess(pid).rssBytes;
  } catch {
    return 0;
  }
}

/** Measures CPU time and memory until the window ends, or until `loadEnd` resolves. */
async function measureUsage(pids: readonly number[], windowMs: number, loadEnd: Promise<unknown> | undefined) {
  const rssBytesMax = pids.map(() => 0);
  const sampleRss = () => {
    for (const [index, pid] of pids.entries()) rssBytesMax[index] = Math.max(rssBytesMax[index] ?? 0, readRss(pid));
  };
  const readUsage = () => ({
    ms: performance.now(),
    cpuSeconds: pids.map((pid) => readProcess(pid).cpuSeconds),
    cores: readBusySecondsOfCores(),
  });
  const sampling = setInterval(sampleRss, rssEveryMs);
  const before = readUsage();
  const windowEnd = waitForCpuTime(pids, windowMs);
  await (loadEnd === undefined ? windowEnd : Promise.race([loadEnd, windowEnd]));
  const after = readUsage();
  clearInterval(sampling);
  sampleRss();
  const seconds = (after.ms - before.ms) / 1_000;
  const processes = pids.map((_, index) => ({
    cpuSeconds: (after.cpuSeconds[index] ?? 0) - (before.cpuSeconds[index] ?? 0),
    rssBytesMax: rssBytesMax[index] ?? 0,
  }));
  const [core0 = 0, core1 = 0] = after.cores.map((busy, core) => busy - (before.cores[core] ?? 0));
  const measuredSeconds = processes.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const otherCpuShare = Math.max(0, (core0 - measuredSeconds) / seconds);
  return { seconds, processes, otherCpuShare, loadCoreShare: core1 / seconds };
}

/**
 * Resolves when the processes have used their core for `ms` together, so that other processes on the machine shorten neither warm-up nor
 * window. Resolves after `ms` times `extensionMax` in any case, because the processes may wait for the load generator or a database.
 */
async function waitForCpuTime(pids: readonly number[], ms: number): Promise<void> {
  const readCpuMs = () => pids.reduce((sum, pid) => sum + readProcess(pid).cpuSeconds * 1_000, 0);
  const before = readCpuMs();
  const deadline = performance.now() + ms * extensionMax;
  await sleep(ms);
  while (performance.now() < deadline && readCpuMs() - before < ms * undisturbedShare) await sleep(cpuTimePollMs);
}

function summarizeLatencies(latencies: readonly number[]) {
  const latencyMs = { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
  return { requests: latencies.length, latencyMs };
}

/**
 * Starts a client that sends `{__typename}` every `everyMs`, one request at a time. The longest latency of its requests
 * is at most `everyMs` shorter than the longest pause of the gateway.
 */
function startProbe(port: number, everyMs: number) {
  const latencies: number[] = [];
  const message = toBytes(port, { path: "/graphql", body: JSON.stringify({ query: "{__typename}" }) });
  let lost: Error | undefined;
  const connection = openConnection(port, (error) => (lost = error));
  let pending = false;
  const timer = setInterval(() => {
    if (pending) return;
    pending = true;
    connection.send(message, ({ latencyMs }) => {
      pending = false;
      latencies.push(latencyMs);
    });
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      connection.close();
      if (lost) throw lost;
      return { p99: quantile(latencies, 0.99), max: quantile(latencies, 1) };
    },
  };
}
