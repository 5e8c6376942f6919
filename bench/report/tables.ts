import type { CpuRatioTarget } from "../benchmarks/benchmark.ts";
import type { Cell } from "../cells/measure-cell.ts";
import type { Contender } from "../contenders/contender.ts";
import type { ProcessReport } from "../measure/measure-load.ts";
import { median, medianInterval } from "../measure/quantile.ts";
import type { LoopPauses } from "../preload/loop-pauses.ts";
import {
  type BenchmarkRun,
  findCpuRatio,
  formatRatio,
  loopPauseMsMax,
  summarize,
  type Summary,
  toCpuMicros,
  toMegabytes,
} from "./summary.ts";
import type { Workload } from "../workloads/workload.ts";

const severalEmptyLines = /\n{3,}/g;
/** The progress line reports the CPU time of other processes above this share of the core. */
const reportedOtherCpuShareMin = 0.03;
const summaryColumns = [
  "CPU µs per request",
  "requests/s",
  "p50 ms",
  "p99 ms",
  "RSS MB",
  "fetches",
  "load's core",
  "others",
];

/** Formats a Markdown table: first column left-aligned, the others right-aligned. An empty text without rows. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const formatRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const alignments = head.map((_, index) => (index === 0 ? "---" : "---:"));
  return [head, alignments, ...rows].map(formatRow).join("\n");
}

/** Formats all tables, the number of met targets, and the failures of a run. */
export function formatReport(run: BenchmarkRun): string {
  const tables = [
    formatRatios(run),
    formatPairs(run),
    ...run.workloads.map((workload) => formatWorkload(workload, run)),
    ...run.workloads.map((workload) => formatPauses(workload, run)),
  ].join("\n\n");
  const report = [formatTargetCount(tables), tables, formatFailures(run)].join("\n\n");
  // Parts can be empty, and the output of a failed process can contain empty lines.
  return report.replaceAll(severalEmptyLines, "\n\n").trim();
}

function formatTargetCount(tables: string): string {
  const met = tables.split("✓").length - 1;
  const missed = tables.split("✗").length - 1;
  const count = met + missed;
  return count === 0 ? "" : `${met} of ${count} targets are met (✓).`;
}

function formatFailures({ failures }: BenchmarkRun): string {
  if (failures.length === 0) return "";
  const lines = failures.map(({ workload, contender, problem }) => `- **${contender}, ${workload}**: ${problem}`);
  return `Failed:\n\n${lines.join("\n")}`;
}

/** The ratios of CPU per request with their targets, where both contenders were measured. */
function formatRatios({ workloads, ratioTargets, cells }: BenchmarkRun): string {
  const isMeasured = (target: CpuRatioTarget, { name }: Workload) => findCpuRatio(target, name, cells) !== undefined;
  const measuredTargets = ratioTargets.filter((target) => workloads.some((workload) => isMeasured(target, workload)));
  const measuredWorkloads = workloads.filter(
    (workload) => workload.order === "in turn" && measuredTargets.some((target) => isMeasured(target, workload)),
  );
  return formatTable(
    ["CPU per request", ...measuredWorkloads.map(({ title }) => title)],
    measuredTargets.map((target) => [
      target.title,
      ...measuredWorkloads.map(({ name }) => formatRatio(target, name, cells)),
    ]),
  );
}

/** All contenders without a baseline under one workload. */
function formatWorkload(
  { title, name }: Workload,
  { contenders, cells, failures, memoryReference = "" }: BenchmarkRun,
): string {
  // The memory of the contender with this name is the target of ours.
  const rssBytesMax = summarize(cells, name, memoryReference)?.rssBytes;
  const rows: (readonly string[])[] = [];
  for (const contender of contenders) {
    if (contender.baseline) continue;
    const summary = summarize(cells, name, contender.name);
    const hasFailed = failures.some((failure) => failure.workload === name && failure.contender === contender.name);
    if (summary) {
      rows.push([contender.title, ...formatSummary(summary, contender, rssBytesMax)]);
    } else if (hasFailed) {
      const [, ...otherColumns] = summaryColumns;
      rows.push([contender.title, "failed", ...otherColumns.map(() => "–")]);
    }
  }
  return formatTable([title, ...summaryColumns], rows);
}

/** @param rssBytesMax the target of our contenders; undefined without a target. @returns one cell for each of `summaryColumns`. */
function formatSummary(summary: Summary, { isOurs }: Contender, rssBytesMax: number | undefined): readonly string[] {
  const rss = toMegabytes(summary.rssBytes);
  const hasTarget = isOurs && rssBytesMax !== undefined;
  return [
    toDigits(summary.cpuMicros),
    summary.requestsPerSecond.toFixed(0),
    toDigits(summary.p50Ms),
    toDigits(summary.p99Ms),
    hasTarget ? `${rss} ${toMark(summary.rssBytes <= rssBytesMax)}` : rss,
    summary.fetchesPerRequest.toFixed(1),
    toPercent(summary.loadCoreShare),
    toPercent(summary.otherCpuShareMax),
  ];
}

/** The reports on one contender and its baseline in one round. */
interface Pair {
  readonly cell: ProcessReport;
  readonly baseline: ProcessReport;
}

/** The contenders with a baseline. */
function formatPairs({ workloads, contenders, cells }: BenchmarkRun): string {
  const rows: (readonly string[])[] = [];
  for (const workload of workloads) {
    for (const contender of contenders) {
      const pairs = listPairs(cells, workload, contender);
      if (pairs.length > 0) rows.push([`${workload.title}, ${contender.title}`, ...formatPair(pairs, contender)]);
    }
  }
  return formatTable(
    ["", "ratio", "95 % interval", "ratios of the rounds", "CPU µs per request", "baseline", "RSS MB", "baseline"],
    rows,
  );
}

/** One pair for each round. */
function listPairs(cells: readonly Cell[], workload: Workload, contender: Contender): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const cell of cells) {
    const isRequested = cell.workload === workload.name && cell.contender === contender.name;
    if (isRequested && cell.baseline) pairs.push({ cell, baseline: cell.baseline });
  }
  return pairs;
}

/** The medians of the rounds, the interval of the ratio's median, and the lowest and highest ratio of a round. */
function formatPair(pairs: readonly Pair[], { baselineRatioMax }: Contender): readonly string[] {
  const ratios = pairs.map(({ cell, baseline }) => toCpuMicros(cell) / toCpuMicros(baseline));
  const medianRatio = median(ratios);
  const mark = baselineRatioMax === undefined ? "" : ` ${toMark(medianRatio <= baselineRatioMax)}`;
  const [intervalLow, intervalHigh] = medianInterval(ratios);
  const medianOf = (read: (pair: Pair) => number) => median(pairs.map(read));
  return [
    `${medianRatio.toFixed(2)}×${mark}`,
    `${intervalLow.toFixed(2)}–${intervalHigh.toFixed(2)}`,
    `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    medianOf(({ cell }) => toCpuMicros(cell)).toFixed(1),
    medianOf(({ baseline }) => toCpuMicros(baseline)).toFixed(1),
    toMegabytes(medianOf(({ cell }) => cell.rssBytesMax)),
    toMegabytes(medianOf(({ baseline }) => baseline.rssBytesMax)),
  ];
}

/** The event loop's pauses under a workload that has a probe: measured inside the process (elapsed and CPU time), and by the probe from outside. */
function formatPauses({ name, title }: Workload, { contenders, cells }: BenchmarkRun): string {
  const rows: (readonly string[])[] = [];
  for (const contender of contenders) {
    const pauses = summarize(cells, name, contender.name)?.pauses;
    if (!pauses) continue;
    const target = ` ${toMark(pauses.insideMaxMs <= loopPauseMsMax)} (≤ ${loopPauseMsMax})`;
    rows.push([
      contender.title,
      `${toDigits(pauses.insideMaxMs)}${contender.isOurs ? target : ""}`,
      toDigits(pauses.workMaxMs),
      toDigits(pauses.probeMaxMs),
      toDigits(pauses.probeP99Ms),
    ]);
  }
  const columns = ["longest pause, ms", "longest CPU time, ms", "longest probe, ms", "probe p99, ms"];
  return formatTable([`${title}: pauses`, ...columns], rows);
}

/** Formats one measurement as a line of progress. */
export function formatProgress(cell: Cell): string {
  const { workload, contender, round, latencyMs, baseline, probeMs, otherCpuShare, computed } = cell;
  const cpuMicros = toCpuMicros(cell);
  const results = [`${toDigits(cpuMicros)} µs CPU per request`];
  if (baseline) results.push(`ratio ${(cpuMicros / toCpuMicros(baseline)).toFixed(2)}×`);
  results.push(
    `${(cell.requests / cell.seconds).toFixed(0)}/s`,
    `p99 ${toDigits(latencyMs.p99)} ms`,
    `${toMegabytes(cell.rssBytesMax)} MB`,
  );
  if (probeMs) results.push(`longest pause ${toDigits((cell.preloadReport as LoopPauses).maxMs)} ms`);
  if (otherCpuShare > reportedOtherCpuShareMin) {
    results.push(`other processes used ${toPercent(otherCpuShare)} of its core`);
  }
  // All others were canned: computing takes the load's core from the measurement.
  if (computed > 0) results.push(`${computed} subgraph responses were computed`);
  return `${workload} ${contender} #${round}: ${results.join(", ")}`;
}

function toMark(isMet: boolean): string {
  return isMet ? "✓" : "✗";
}

/** Three significant digits. */
function toDigits(number: number): string {
  return number >= 100 ? number.toFixed(0) : number.toPrecision(3);
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
