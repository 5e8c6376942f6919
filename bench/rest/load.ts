// The load in a process of its own, pinned to the origin's core. One job after the other.
import { setTimeout as sleep } from "node:timers/promises";
import { createClosedLoop } from "../load/closed-loop.ts";
import { toPost } from "../load/connection.ts";
import { quantile } from "../measure/median.ts";
import { readBusySecondsOfCores, readProcess } from "../measure/proc.ts";
import { type RestWorkload, statusOf, toGet } from "./workloads.ts";

export interface RestJob {
  readonly port: number;
  readonly workload: RestWorkload;
  /** What conditional requests have. */
  readonly etag: string | undefined;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** Whose CPU is read at the window's ends. */
  readonly pid: number;
}

export interface RestReport {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the contender. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** What others took of the contender's core, as a part of the window. */
  readonly neighbours: number;
  /** Answers of another status than the workload's, or of another length than the first. */
  readonly wrongAnswers: number;
}

export type RestSaid = { readonly report: RestReport } | { readonly problem: string };

const say = (said: RestSaid | "ready") => void process.send?.(said);

process.on("message", (job: RestJob) => {
  measure(job).then(
    (report) => say({ report }),
    (error: unknown) => say({ problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
say("ready");

async function measure({ port, workload, etag, connections, warmUpMs, windowMs, pid }: RestJob): Promise<RestReport> {
  const latencies: number[] = [];
  let counting = false;
  let wrongAnswers = 0;
  let length: number | undefined;
  const wanted = statusOf(workload);
  const { path, query } = workload;
  const loop = createClosedLoop({
    port,
    connections,
    requests: [query === undefined ? toGet(port, path, etag) : toPost(port, JSON.stringify({ query }))],
    onAnswer({ status, bodyBytes, latencyMs }) {
      length ??= bodyBytes;
      if (status !== wanted || bodyBytes !== length) wrongAnswers += 1;
      if (counting) latencies.push(latencyMs);
    },
  });
  try {
    loop.run();
    await sleep(warmUpMs);
    counting = true;
    const before = readUse(pid);
    await sleep(windowMs);
    const after = readUse(pid);
    counting = false;
    await loop.stop();
    const seconds = (after.ms - before.ms) / 1_000;
    const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
    return {
      requests: latencies.length,
      seconds,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      cpuSeconds,
      rssBytes: after.rssBytes,
      neighbours: Math.max(0, (after.core - before.core - cpuSeconds) / seconds),
      wrongAnswers,
    };
  } finally {
    loop.close();
  }
}

function readUse(pid: number) {
  return { ms: performance.now(), ...readProcess(pid), core: readBusySecondsOfCores()[0] ?? 0 };
}
