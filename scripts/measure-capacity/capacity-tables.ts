// Formats the tables of docs/capacity.md from the measurements. Each part (service, gateway, REST proxy) has one process.
import { availableParallelism, cpus } from "node:os";
import { serviceNames } from "../verify/platform/platform.ts";
import type { RampResult, RateResult } from "./ramp.ts";

export interface WorkloadResult extends RampResult {
  /** The workload's name. */
  readonly workload: string;
}

const processNames = ["gateway", "rest-proxy", ...serviceNames];
const beginMarker = "<!-- capacity:begin -->";
const endMarker = "<!-- capacity:end -->";
/** The CPU utilization of a process that an autoscaler targets, as a share of one core: the other replicas must carry the load of a lost one. */
const targetUtilization = 0.6;
/** The request rate for which the tables list the number of replicas. */
const goalPerSecond = 10_000;
/** A process that uses at least this share of a core is limited by its event loop. */
const fullCoreShare = 0.85;
/** A process with at most this share of a request's CPU time has only its idle work, and its cell is empty ("–"). */
const idleCostShare = 0.02;

/** Formats the tables of docs/capacity.md, and the machine on which they were measured. */
export function formatTables(
  results: readonly WorkloadResult[],
  { p99MsMax, seconds }: { readonly p99MsMax: number; readonly seconds: number },
): string {
  const cpuModel = cpus()[0]?.model.trim() ?? "unknown";
  const machine = `${cpuModel}, ${availableParallelism()} cores for all processes, Node ${process.version}`;
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
  const rate = sustained ? sustained.perSecond.toLocaleString("en") : "none";
  const p99 = sustained ? sustained.p99Ms.toFixed(1) : "–";
  const limit = failed ? limitOf(failed, p99MsMax) : "none";
  return `| ${workload} | ${rate} | ${p99} | ${limit} |`;
}

/**
 * Names what limits the rate, the first of these that applies:
 * - a process at full CPU;
 * - failed requests;
 * - the load generator, if it sent late: then the process sustains at least the rate in this row;
 * - the machine or PostgreSQL.
 * @param failed the lowest rate that was not sustained.
 */
export function limitOf(failed: RateResult, p99MsMax: number): string {
  const { requests, failures, sendDelayMsMax, cpuSeconds, seconds } = failed;
  const [busiest] = [...cpuSeconds].toSorted(([, a], [, b]) => b - a);
  const [busiestProcess = "", busiestSeconds = 0] = busiest ?? [];
  const coreShare = busiestSeconds / seconds;
  if (coreShare >= fullCoreShare) return `${busiestProcess}, ${Math.round(coreShare * 100)} % of a core`;
  if (failures > 0) return `requests failed: ${failures.toLocaleString("en")} of ${requests.toLocaleString("en")}`;
  // A latency includes the delay of sending. If that is more than half of the limit, it can be the greater part of a latency above the limit.
  const hasSentLate = sendDelayMsMax > p99MsMax / 2;
  if (hasSentLate) return "the load generator: the process sustains at least the rate in this row";
  return "the machine, or its PostgreSQL";
}

/** A row for each workload with a sustained rate, a cell for each process. @param format of the CPU milliseconds of a request. */
function costRows(results: readonly WorkloadResult[], format: (cpuMs: number) => string): readonly string[] {
  return results.flatMap(({ workload, sustained }) => {
    if (!sustained) return [];
    const costsMs = processNames.map((name) => costMsOf(sustained, name));
    const totalMs = costsMs.reduce((sum, cpuMs) => sum + cpuMs, 0);
    const cells = costsMs.map((cpuMs) => (cpuMs <= totalMs * idleCostShare ? "–" : format(cpuMs)));
    return [`| ${workload} | ${cells.join(" | ")} |`];
  });
}

/** CPU milliseconds of one request in one process. */
function costMsOf({ cpuSeconds, requests }: RateResult, processName: string): number {
  return ((cpuSeconds.get(processName) ?? 0) * 1_000) / requests;
}

/** The number of replicas for `goalPerSecond`. @param cpuMs CPU milliseconds of a request. */
export function replicasFor(cpuMs: number): number {
  const coresInUse = (goalPerSecond * cpuMs) / 1_000;
  return Math.ceil(coresInUse / targetUtilization);
}

/** Replaces what is between the markers of the page. @throws Error if the page has no markers. */
export function putBetweenMarkers(page: string, text: string): string {
  const beginIndex = page.indexOf(beginMarker);
  const endIndex = page.indexOf(endMarker);
  if (beginIndex < 0 || endIndex < beginIndex) throw new Error(`The page has no ${beginMarker} … ${endMarker}.`);
  return `${page.slice(0, beginIndex)}${beginMarker}\n\n${text}\n\n${page.slice(endIndex)}`;
}
