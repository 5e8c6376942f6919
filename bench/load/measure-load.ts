import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../measure/quantile.ts";
import { readBusySecondsOfCores, readProcess } from "../measure/proc.ts";
import { createClosedLoop } from "./closed-loop.ts";
import { type ResponseSummary, openConnection, toPost } from "./connection.ts";
import type { LoadJob, ClosedLoopReport } from "./load-job.ts";

const rssEveryMs = 100;
const cpuTimePollMs = 50;
/** The share of its core that a gateway uses when no other process disturbs it. */
const undisturbedShare = 0.9;
/** Warm-up and window end after this multiple of their length, even if the gateway used less CPU time. */
const extensionMax = 3;

/** Primes the gateway's caches, warms it up and measures one window. @throws Error if a connection or a priming request fails. */
export async function measureLoad(job: LoadJob, onWindow: () => void): Promise<ClosedLoopReport> {
  await prime(job);
  const lengths: number[] = [];
  const latencies: number[] = [];
  let wrongResponses = 0;
  let firstWrongResponse: string | undefined;
  let counting = false;
  const loop = createClosedLoop({
    port: job.port,
    connections: job.connections,
    requests: job.bodies.map((body) => toPost(job.port, body)),
    onResponse({ status, bodyBytes, latencyMs }, index) {
      const length = (lengths[index] ??= bodyBytes);
      if (status !== 200 || bodyBytes !== length) {
        wrongResponses += 1;
        firstWrongResponse ??= `status ${status} and ${bodyBytes} bytes instead of ${length}`;
      }
      if (counting) latencies.push(latencyMs);
    },
  });
  try {
    if (job.order === "in turn") {
      loop.run();
      await waitForCpuTime(job.gatewayPid, job.warmUpMs);
    }
    const probe = job.probeEveryMs === undefined ? undefined : startProbe(job.port, job.probeEveryMs);
    onWindow();
    counting = true;
    const usage = await measureUsage(job, job.order === "once" ? loop.runOnce() : undefined);
    counting = false;
    const probeMs = probe?.stop();
    await loop.stop();
    const latencyMs = { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
    return {
      ...usage,
      requests: latencies.length,
      latencyMs,
      wrongResponses,
      ...(firstWrongResponse && { firstWrongResponse }),
      ...(probeMs && { probeMs }),
    };
  } finally {
    loop.close();
  }
}

async function prime({ port, primingBodies, connections }: LoadJob): Promise<void> {
  let failed = 0;
  const onResponse = ({ status }: ResponseSummary) => void (failed += Number(status !== 200));
  const requests = primingBodies.map((body) => toPost(port, body));
  const loop = createClosedLoop({ port, requests, connections, onResponse });
  await loop.runOnce();
  loop.close();
  if (failed > 0) throw new Error(`${failed} of ${primingBodies.length} priming requests got another status than 200.`);
}

type ProcessUsage = Pick<ClosedLoopReport, "seconds" | "cpuSeconds" | "rssBytesMax" | "otherCpuShares">;

/** Measures CPU time and memory until the window ends, or until `loadEnd` resolves. */
async function measureUsage(job: LoadJob, loadEnd: Promise<void> | undefined): Promise<ProcessUsage> {
  let rssBytesMax = 0;
  const sampleRss = () => (rssBytesMax = Math.max(rssBytesMax, readProcess(job.gatewayPid).rssBytes));
  const sampling = setInterval(sampleRss, rssEveryMs);
  const before = readUsage(job);
  const windowEnd = waitForCpuTime(job.gatewayPid, job.windowMs);
  await (loadEnd === undefined ? windowEnd : Promise.race([loadEnd, windowEnd]));
  const after = readUsage(job);
  clearInterval(sampling);
  sampleRss();
  const seconds = (after.ms - before.ms) / 1_000;
  const cpuSeconds = {
    gateway: after.gateway - before.gateway,
    subgraphs: after.subgraphs - before.subgraphs,
    load: after.load - before.load,
  };
  const toOtherShare = (core: 0 | 1, measuredSeconds: number) =>
    Math.max(0, ((after.cores[core] ?? 0) - (before.cores[core] ?? 0) - measuredSeconds) / seconds);
  const otherCpuShares = [
    toOtherShare(0, cpuSeconds.gateway),
    toOtherShare(1, cpuSeconds.subgraphs + cpuSeconds.load),
  ] as const;
  return { seconds, cpuSeconds, rssBytesMax, otherCpuShares };
}

/**
 * Resolves when the gateway has used its core for `ms`, so that other processes on the machine shorten neither warm-up
 * nor window. Resolves after `ms` times `extensionMax` in any case, because a gateway may wait for the load generator.
 */
async function waitForCpuTime(pid: number, ms: number): Promise<void> {
  const before = readProcess(pid).cpuSeconds;
  const deadline = performance.now() + ms * extensionMax;
  await sleep(ms);
  while (performance.now() < deadline && (readProcess(pid).cpuSeconds - before) * 1_000 < ms * undisturbedShare) {
    await sleep(cpuTimePollMs);
  }
}

function readUsage({ gatewayPid, subgraphsPid }: LoadJob) {
  return {
    ms: performance.now(),
    gateway: readProcess(gatewayPid).cpuSeconds,
    subgraphs: readProcess(subgraphsPid).cpuSeconds,
    load: readProcess(process.pid).cpuSeconds,
    cores: readBusySecondsOfCores(),
  };
}

/**
 * Starts a client that sends `{__typename}` every `everyMs`, one request at a time. The longest latency of its requests
 * is at most `everyMs` shorter than the longest pause of the gateway.
 */
function startProbe(port: number, everyMs: number) {
  const latencies: number[] = [];
  const request = toPost(port, JSON.stringify({ query: "{__typename}" }));
  let lost: Error | undefined;
  const connection = openConnection(port, (error) => (lost = error));
  let pending = false;
  const timer = setInterval(() => {
    if (pending) return;
    pending = true;
    connection.send(request, ({ latencyMs }) => {
      pending = false;
      latencies.push(latencyMs);
    });
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      connection.close();
      if (lost) throw lost;
      return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), max: quantile(latencies, 1) };
    },
  };
}
