// The only measuring loop: loads one process, or two at the same time, and measures one window.
import { setTimeout as sleep } from "node:timers/promises";
import { createClosedLoop } from "../load/closed-loop.ts";
import { type LoadRequest, openConnection, type ResponseSummary, toBytes } from "../load/connection.ts";
import { readBusySecondsOfCores, readProcess } from "./proc.ts";
import { quantile } from "./quantile.ts";

/** Of a right response. */
export interface KnownLength {
  readonly requestIndex: number;
  readonly bodyBytes: number;
}

/** One measurement. */
export interface LoadJob {
  /** The processes to load and to measure, on core 0. */
  readonly processes: readonly { readonly port: number; readonly pid: number }[];
  /** Sent to each process. */
  readonly requests: readonly LoadRequest[];
  readonly primingRequests: readonly LoadRequest[];
  /** The number of connections to each process. */
  readonly connections: number;
  /**
   * `in turn`: the requests are repeated through warm-up and window. `once`: each request is sent once, without a warm-up, and the load ends with the
   * last response or with the window.
   */
  readonly order: "in turn" | "once";
  readonly expectedStatus: 200 | 304;
  /** Other requests have the length of their first response. */
  readonly knownLengths: readonly KnownLength[];
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
  const check = createResponseCheck(job);
  const latenciesOfProcesses = pids.map((): number[] => []);
  let isWindowOpen = false;
  await prime(job);
  const loops = job.processes.map(({ port }, processIndex) =>
    createClosedLoop({
      port,
      connections: job.connections,
      requests: job.requests,
      onResponse(response, requestIndex) {
        check.checkResponse(response, requestIndex);
        if (isWindowOpen) latenciesOfProcesses[processIndex]?.push(response.latencyMs);
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
    isWindowOpen = true;
    const loadEnd = job.order === "once" ? Promise.all(loops.map((loop) => loop.runOnce())) : undefined;
    const usage = await measureUsage(pids, job.windowMs, loadEnd);
    isWindowOpen = false;
    const probeMs = probe?.stop();
    await Promise.all(loops.map((loop) => loop.stop()));
    check.throwIfWrong();
    const processes = usage.processes.map((processUsage, index) => ({
      ...processUsage,
      ...summarizeLatencies(latenciesOfProcesses[index] ?? []),
    }));
    return probeMs === undefined ? { ...usage, processes } : { ...usage, processes, probeMs };
  } finally {
    for (const loop of loops) loop.close();
  }
}

/**
 * Each response must have the expected status, and the length of the right response to the same request: a rejection, which has the status 200 for
 * clients that accept only `application/json`, costs less than a response.
 */
function createResponseCheck({ expectedStatus, knownLengths }: LoadJob) {
  /** By the index of the request. */
  const expectedLengths: number[] = [];
  for (const { requestIndex, bodyBytes } of knownLengths) expectedLengths[requestIndex] = bodyBytes;
  let wrongCount = 0;
  let firstWrong = "";
  return {
    checkResponse({ status, bodyBytes }: ResponseSummary, requestIndex: number): void {
      const expectedBytes = expectedLengths[requestIndex] ?? bodyBytes;
      expectedLengths[requestIndex] = expectedBytes;
      const isRight = status === expectedStatus && bodyBytes === expectedBytes;
      if (isRight) return;
      wrongCount += 1;
      if (wrongCount === 1) firstWrong = `status ${status} and ${bodyBytes} bytes instead of ${expectedBytes}`;
    },
    throwIfWrong(): void {
      if (wrongCount > 0) throw new Error(`${wrongCount} wrong responses under load, the first with ${firstWrong}.`);
    },
  };
}

async function prime({ processes, primingRequests, connections, expectedStatus }: LoadJob): Promise<void> {
  let failedCount = 0;
  const onResponse = ({ status }: ResponseSummary) => {
    if (status !== expectedStatus) failedCount += 1;
  };
  for (const { port } of processes) {
    const loop = createClosedLoop({ port, requests: primingRequests, connections, onResponse });
    await loop.runOnce();
    loop.close();
  }
  if (failedCount > 0) throw new Error(`${failedCount} priming requests got another status than ${expectedStatus}.`);
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
    timeMs: performance.now(),
    cpuSeconds: pids.map((pid) => readProcess(pid).cpuSeconds),
    busySecondsOfCores: readBusySecondsOfCores(),
  });
  const sampling = setInterval(sampleRss, rssEveryMs);
  const before = readUsage();
  const windowEnd = waitForCpuTime(pids, windowMs);
  await (loadEnd === undefined ? windowEnd : Promise.race([loadEnd, windowEnd]));
  const after = readUsage();
  clearInterval(sampling);
  sampleRss();

  const seconds = (after.timeMs - before.timeMs) / 1_000;
  const processes = pids.map((_, index) => ({
    cpuSeconds: (after.cpuSeconds[index] ?? 0) - (before.cpuSeconds[index] ?? 0),
    rssBytesMax: rssBytesMax[index] ?? 0,
  }));
  const [core0Seconds = 0, core1Seconds = 0] = after.busySecondsOfCores.map(
    (busySeconds, core) => busySeconds - (before.busySecondsOfCores[core] ?? 0),
  );
  const measuredSeconds = processes.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  // Rounding of the ticks can make the difference negative.
  const otherCpuShare = Math.max(0, (core0Seconds - measuredSeconds) / seconds);
  return { seconds, processes, otherCpuShare, loadCoreShare: core1Seconds / seconds };
}

/**
 * Resolves when the processes together have used their core for 90 % of `ms`, so that other processes on the machine shorten neither warm-up nor
 * window. Resolves after `ms` times `extensionMax` in any case, because the processes may wait for the load generator or a database.
 */
async function waitForCpuTime(pids: readonly number[], ms: number): Promise<void> {
  const readCpuMs = () => pids.reduce((sum, pid) => sum + readProcess(pid).cpuSeconds * 1_000, 0);
  const cpuMsBefore = readCpuMs();
  const deadlineMs = performance.now() + ms * extensionMax;
  await sleep(ms);
  const isCpuTimeMissing = () => readCpuMs() - cpuMsBefore < ms * undisturbedShare;
  while (performance.now() < deadlineMs && isCpuTimeMissing()) await sleep(cpuTimePollMs);
}

function summarizeLatencies(latenciesMs: readonly number[]) {
  const latencyMs = { p50: quantile(latenciesMs, 0.5), p99: quantile(latenciesMs, 0.99) };
  return { requests: latenciesMs.length, latencyMs };
}

/**
 * Starts a client that sends `{__typename}` every `everyMs`, one request at a time. The longest latency of its requests
 * is at most `everyMs` shorter than the longest pause of the gateway.
 */
function startProbe(port: number, everyMs: number) {
  const latenciesMs: number[] = [];
  const message = toBytes(port, { path: "/graphql", body: JSON.stringify({ query: "{__typename}" }) });
  let connectionError: Error | undefined;
  const connection = openConnection({
    port,
    onLost(error) {
      connectionError = error;
    },
  });
  let isPending = false;
  const timer = setInterval(() => {
    if (isPending) return;
    isPending = true;
    connection.send(message, ({ latencyMs }) => {
      isPending = false;
      latenciesMs.push(latencyMs);
    });
  }, everyMs);
  return {
    /** @throws Error if the connection was lost. */
    stop() {
      clearInterval(timer);
      connection.close();
      if (connectionError) throw connectionError;
      return { p99: quantile(latenciesMs, 0.99), max: quantile(latenciesMs, 1) };
    },
  };
}
