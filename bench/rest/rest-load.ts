// The load generator's process for the REST benchmark, on the origin's core. Runs one job after the other.
import { setTimeout as sleep } from "node:timers/promises";
import { createClosedLoop } from "../load/closed-loop.ts";
import { toPost } from "../load/connection.ts";
import { quantile } from "../measure/quantile.ts";
import { readBusySecondsOfCores, readProcess } from "../measure/proc.ts";
import { type RestWorkload, toExpectedStatus, toGet } from "./rest-workloads.ts";

export interface RestJob {
  readonly port: number;
  readonly workload: RestWorkload;
  /** Sent in `If-None-Match`; undefined for unconditional requests. */
  readonly etag: string | undefined;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** The contender's process, whose CPU time and memory are measured. */
  readonly pid: number;
}

export interface RestReport {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the contender, as is `rssBytes`. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** The share of the contender's core that other processes used during the window, 0 to 1. */
  readonly otherCpuShare: number;
  /** Responses with another status than the workload's, or another length than the first response. */
  readonly wrongResponses: number;
}

export type RestLoadMessage = { readonly report: RestReport } | { readonly problem: string };

const send = (message: RestLoadMessage | "ready") => void process.send?.(message);

process.on("message", (job: RestJob) => {
  measure(job).then(
    (report) => send({ report }),
    (error: unknown) => send({ problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
send("ready");

async function measure({ port, workload, etag, connections, warmUpMs, windowMs, pid }: RestJob): Promise<RestReport> {
  const latencies: number[] = [];
  let counting = false;
  let wrongResponses = 0;
  let length: number | undefined;
  const expectedStatus = toExpectedStatus(workload);
  const { path, query } = workload;
  const loop = createClosedLoop({
    port,
    connections,
    requests: [query === undefined ? toGet(port, path, etag) : toPost(port, JSON.stringify({ query }))],
    onResponse({ status, bodyBytes, latencyMs }) {
      length ??= bodyBytes;
      if (status !== expectedStatus || bodyBytes !== length) wrongResponses += 1;
      if (counting) latencies.push(latencyMs);
    },
  });
  try {
    loop.run();
    await sleep(warmUpMs);
    counting = true;
    const before = readUsage(pid);
    await sleep(windowMs);
    const after = readUsage(pid);
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
      otherCpuShare: Math.max(0, (after.core - before.core - cpuSeconds) / seconds),
      wrongResponses,
    };
  } finally {
    loop.close();
  }
}

function readUsage(pid: number) {
  return { ms: performance.now(), ...readProcess(pid), core: readBusySecondsOfCores()[0] ?? 0 };
}
