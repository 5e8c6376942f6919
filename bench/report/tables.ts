import type { Contender } from "../contenders/contenders.ts";
import type { Workload } from "../workloads/workloads.ts";
import { printTable } from "./markdown.ts";
import { findRatio, printRatio } from "./ratios.ts";
import type { Summaries, Summary } from "./summary.ts";
import { loopPauseMsMax, ratioRows } from "./targets.ts";

export interface TableData {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  readonly summaries: Summaries;
}

/** Prints the ratios of CPU per request with their targets, for pairs of contenders that were both measured. */
export function printRatios({ contenders, workloads, summaries }: TableData): string {
  const compared = workloads.filter(({ order }) => order === "in turn");
  const measured = new Set(contenders.map(({ name }) => name));
  const rows = ratioRows
    .filter(({ denominator, numerator }) => measured.has(denominator) && measured.has(numerator))
    .map((row) => [row.title, ...compared.map(({ name }) => printRatio(findRatio(row, name, summaries)))]);
  return rows.length === 0 || compared.length === 0
    ? ""
    : printTable(["CPU per request", ...compared.map(({ title }) => title)], rows);
}

/** Prints all contenders' results under one workload. */
export function printWorkloadTable({ title, name }: Workload, { contenders, summaries }: TableData): string {
  const stockRss = summaries.find(name, "stock")?.rssBytesMax;
  const rows = contenders.map((contender) => {
    const summary = summaries.find(name, contender.name);
    return [contender.title, ...(summary ? toCells(summary, stockRss, contender) : unmeasured)];
  });
  const head = [title, "CPU s / 1,000", "requests/s", "p50 ms", "p99 ms", "RSS MB", "fetches", "load's core", "others"];
  return printTable(head, rows);
}

const unmeasured = ["failed", "–", "–", "–", "–", "–", "–", "–"];

function toCells(summary: Summary, stockRss: number | undefined, { isOurs }: Contender): readonly string[] {
  const hasTarget = isOurs && stockRss !== undefined;
  const rss = (summary.rssBytesMax / 1e6).toFixed(0);
  return [
    toDigits(summary.cpuMsPerRequest),
    summary.requestsPerSecond.toFixed(0),
    toDigits(summary.p50Ms),
    toDigits(summary.p99Ms),
    hasTarget ? `${rss} ${summary.rssBytesMax <= stockRss ? "✓" : "✗"}` : rss,
    summary.fetchesPerRequest.toFixed(1),
    toPercent(summary.loadCoreShare),
    toPercent(summary.otherCpuShare),
  ];
}

/** Prints the event loop's pauses under a workload that has a probe. */
export function printPauses({ name, title }: Workload, { contenders, summaries }: TableData): string {
  const rows = contenders.flatMap((contender) => {
    const pauses = summaries.find(name, contender.name)?.pauses;
    if (!pauses) return [];
    const inside = toDigits(pauses.insideMaxMs);
    const target = ` ${pauses.insideMaxMs <= loopPauseMsMax ? "✓" : "✗"} (≤ ${loopPauseMsMax})`;
    const longest = contender.isOurs ? inside + target : inside;
    const numbers = [pauses.workMaxMs, pauses.probeMaxMs, pauses.probeP99Ms];
    return [[contender.title, longest, ...numbers.map(toDigits)]];
  });
  return printTable(
    [`${title}: pauses`, "longest pause, ms", "longest CPU time, ms", "longest probe, ms", "probe p99, ms"],
    rows,
  );
}

/** Three significant digits. */
function toDigits(number: number): string {
  return number >= 100 ? number.toFixed(0) : number.toPrecision(3);
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
