// Formats the tables of docs/capacity.md from the measurements. Each part (service, gateway, REST proxy) has one process.
import { availableParallelism, cpus } from "node:os";
import { serviceNames } from "../verify/platform/platform.ts";
import type { RampResult, RateResult } from "./ramp.ts";

export interface WorkloadResult extends RampResult {
  /** The workload's name. */
  readonly workload: string;
}

const processNames = ["gateway", "rest-proxy", ...serviceNames];
const [begin, end] = ["<!-- capacity:begin -->", "<!-- capacity:end -->"];
/** The CPU utilization of a process that an autoscaler targets, as a share of one core: the other replicas must carry the load of a lost one. */
const targetUtilization = 0.6;
const goalPerSecond = 10_000;
/** A process that uses at least this share of a core is limited by its event loop. */
const fullShare = 0.85;
/** A process with at most this share of a request's CPU time has only its idle work, and its cell is empty ("–"). */
const leastShare = 0.02;

/** Formats the tables of docs/capacity.md, and the machine on which they were measured. */
export function formatTables(
  results: readonly WorkloadResult[],
  { p99MsMax, seconds }: { readonly p99MsMax: number; readonly seconds: number },
): string {
  const machine = `${cpus()[0]?.model.trim() ?? "unknown"}, ${availableParallelism()} cores for all processes, Node ${process.version}`;
  const date = new Date().toISOString().slice(0, 10);
  return [
    `Measured on ${date}: ${machine}; each rate measured for ${seconds} s, p99 at most ${p99MsMax} ms, no failed requests.`,
    "",
    "| workload | requests/s sustained | p99, ms | limit |",
    "|---|---|---|---|",
    ...results.map((result) => formatSustainedRow(result, p99MsMax)),
    "",
    `| CPU of a request, ms | ${processNames.join(" | ")} |`,
    `|---|${"---|".repeat(processNames.length)}`,
    ...costRows(results, (ms) => ms.toFixed(2)),
    "",
    `| replicas for ${goalPerSecond.toLocaleString("en")}/s | ${processNames.join(" | ")} |`,
    `|---|${"---|".repeat(processNames.length)}`,
    ...costRows(results, (ms) => String(replicasFor(ms))),
  ].join("\n");
}

function formatSustainedRow({ workload, sustained, failed }: WorkloadResult, p99MsMax: number): string {
  const cells = sustained ? [sustained.perSecond.toLocaleString("en"), sustained.p99Ms.toFixed(1)] : ["none", "–"];
  return `| ${workload} | ${cells.join(" | ")} | ${failed ? limitOf(failed, p99MsMax) : "none"} |`;
}

/**
 * Names what limits the rate: a process at full CPU; else failed requests; else the load generator, if it sent late (then the process sustains at
 * least the rate in this row); else the machine or PostgreSQL.
 * @param failed the lowest rate that was not sustained.
 */
export function limitOf(failed: RateResult, p99MsMax: number): string {
  const { requests, failures, sendDelayMsMax, cpuSeconds, seconds } = failed;
  const [busiest] = [...cpuSeconds].toSorted(([, a], [, b]) => b - a);
  const share = (busiest?.[1] ?? 0) / seconds;
  if (busiest && share >= fullShare) return `${busiest[0]}, ${Math.round(share * 100)} % of a core`;
  if (failures > 0) return `requests failed: ${failures.toLocaleString("en")} of ${requests.toLocaleString("en")}`;
  // Latencies include the delay of sending. Beyond half the limit, the delay can be a greater part of a latency at the limit than the process.
  return sendDelayMsMax > p99MsMax / 2
    ? "the load generator: the process sustains at least the rate in this row"
    : "the machine, or its PostgreSQL";
}

function costRows(results: readonly WorkloadResult[], format: (ms: number) => string): readonly string[] {
  return results.flatMap(({ workload, sustained }) => {
    if (!sustained) return [];
    const costs = processNames.map((name) => costOf(sustained, name));
    const sum = costs.reduce((total, ms) => total + ms, 0);
    const cells = costs.map((ms) => (ms <= sum * leastShare ? "–" : format(ms)));
    return [`| ${workload} | ${cells.join(" | ")} |`];
  });
}

/** CPU milliseconds of one request in one process. */
function costOf({ cpuSeconds, requests }: RateResult, processName: string): number {
  return ((cpuSeconds.get(processName) ?? 0) * 1_000) / requests;
}

/** @param ms CPU milliseconds of a request. */
export function replicasFor(ms: number): number {
  return Math.ceil((goalPerSecond * ms) / 1_000 / targetUtilization);
}

/** @throws Error if the page has no markers. */
export function putBetweenMarkers(page: string, text: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The page has no ${begin} … ${end}.`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
}
