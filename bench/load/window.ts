import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../measure/median.ts";
import { readBusySecondsOfCores, readProcess } from "../measure/proc.ts";
import { createClosedLoop } from "./closed-loop.ts";
import { type Answered, openConnection, toPost } from "./connection.ts";
import type { LoadJob, LoadReport } from "./job.ts";

const rssEveryMs = 100;
const workedPollMs = 50;
/** A gateway that has a core for itself uses nearly all of it. */
const fullWork = 0.9;
const stretchMax = 3;

/** Primes, warms up, and measures one window. */
export async function measureLoad(job: LoadJob, onWindow: () => void): Promise<LoadReport> {
  await prime(job);
  const lengths: number[] = [];
  const latencies: number[] = [];
  let wrongAnswers = 0;
  let firstWrong: string | undefined;
  let counting = false;
  const loop = createClosedLoop({
    port: job.port,
    connections: job.connections,
    requests: job.bodies.map((body) => toPost(job.port, body)),
    onAnswer({ status, bodyBytes, latencyMs }, index) {
      const length = (lengths[index] ??= bodyBytes);
      if (status !== 200 || bodyBytes !== length) {
        wrongAnswers += 1;
        firstWrong ??= `status ${status} and ${bodyBytes} bytes, before ${length}`;
      }
      if (counting) latencies.push(latencyMs);
    },
  });
  try {
    if (job.order === "in turn") {
      loop.run();
      await untilWorked(job.gatewayPid, job.warmUpMs);
    }
    const probe = job.probeEveryMs === undefined ? undefined : startProbe(job.port, job.probeEveryMs);
    onWindow();
    counting = true;
    const measured = await watch(job, job.order === "once" ? loop.runOnce() : undefined);
    counting = false;
    const probeMs = probe?.stop();
    await loop.stop();
    const latencyMs = { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
    return {
      ...measured,
      requests: latencies.length,
      latencyMs,
      wrongAnswers,
      ...(firstWrong && { firstWrong }),
      ...(probeMs && { probeMs }),
    };
  } finally {
    loop.close();
  }
}

async function prime({ port, primeBodies, connections }: LoadJob): Promise<void> {
  let refused = 0;
  const onAnswer = ({ status }: Answered) => void (refused += Number(status !== 200));
  const requests = primeBodies.map((body) => toPost(port, body));
  const loop = createClosedLoop({ port, requests, connections, onAnswer });
  await loop.runOnce();
  loop.close();
  if (refused > 0) throw new Error(`${refused} of ${primeBodies.length} requests were not answered with 200.`);
}

type Measured = Pick<LoadReport, "seconds" | "cpuSeconds" | "rssBytesMax" | "neighbours">;

/** What the processes used between now and the window's end. */
async function watch(job: LoadJob, over: Promise<void> | undefined): Promise<Measured> {
  let rssBytesMax = 0;
  const sampleRss = () => (rssBytesMax = Math.max(rssBytesMax, readProcess(job.gatewayPid).rssBytes));
  const sampling = setInterval(sampleRss, rssEveryMs);
  const before = readUse(job);
  const worked = untilWorked(job.gatewayPid, job.windowMs);
  await (over === undefined ? worked : Promise.race([over, worked]));
  const after = readUse(job);
  clearInterval(sampling);
  sampleRss();
  const seconds = (after.ms - before.ms) / 1_000;
  const cpuSeconds = {
    gateway: after.gateway - before.gateway,
    subgraphs: after.subgraphs - before.subgraphs,
    load: after.load - before.load,
  };
  const foreign = (core: 0 | 1, ours: number) =>
    Math.max(0, ((after.cores[core] ?? 0) - (before.cores[core] ?? 0) - ours) / seconds);
  const neighbours = [foreign(0, cpuSeconds.gateway), foreign(1, cpuSeconds.subgraphs + cpuSeconds.load)] as const;
  return { seconds, cpuSeconds, rssBytesMax, neighbours };
}

/**
 * Until the gateway has worked so long: on a machine with other work, it gets the same chance to warm up and to be
 * measured as on a quiet one. But not for ever: a gateway may wait for its load.
 */
async function untilWorked(pid: number, ms: number): Promise<void> {
  const before = readProcess(pid).cpuSeconds;
  const deadline = performance.now() + ms * stretchMax;
  await sleep(ms);
  while (performance.now() < deadline && (readProcess(pid).cpuSeconds - before) * 1_000 < ms * fullWork) {
    await sleep(workedPollMs);
  }
}

function readUse({ gatewayPid, subgraphsPid }: LoadJob) {
  return {
    ms: performance.now(),
    gateway: readProcess(gatewayPid).cpuSeconds,
    subgraphs: readProcess(subgraphsPid).cpuSeconds,
    load: readProcess(process.pid).cpuSeconds,
    cores: readBusySecondsOfCores(),
  };
}

/** An innocent client, one question at a time: the one that falls into a pause waits for all of it but `everyMs`. */
function startProbe(port: number, everyMs: number) {
  const latencies: number[] = [];
  const request = toPost(port, JSON.stringify({ query: "{__typename}" }));
  let lost: Error | undefined;
  const connection = openConnection(port, (error) => (lost = error));
  let waiting = false;
  const timer = setInterval(() => {
    if (waiting) return;
    waiting = true;
    connection.send(request, ({ latencyMs }) => {
      waiting = false;
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
