import type { Contender, CpuRatioTarget, Workload } from "../benchmark.ts";
import type { ProcessReport } from "../load/measure-load.ts";
import type { Cell } from "../measure/measure-cell.ts";
import { median, medianInterval } from "../measure/quantile.ts";
import type { LoopPauses } from "../preload/loop-pauses.ts";
import {
  findCpuRatio,
  loopPauseMsMax,
  printRatio,
  type BenchmarkRun,
  summarize,
  type Summary,
  toCpuMicros,
  toMegabytes,
} from "./summary.ts";

/** Formats a Markdown table: first column left-aligned, the others right-aligned. An empty text without rows. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, index) => (index === 0 ? "---" : "---:"));
  return rows.length === 0 ? "" : [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** Prints all tables, the number of met targets, and the failures of a run. */
export function printReport(run: BenchmarkRun): string {
  const failures = run.failures.map(
    ({ workload, contender, problem }) => `- **${contender}, ${workload}**: ${problem}`,
  );
  const tables = [
    printRatios(run),
    printPairs(run),
    ...run.workloads.map((workload) => printWorkload(workload, run)),
    ...run.workloads.map((workload) => printPauses(workload, run)),
  ].join("\n\n");
  const [met, missed] = [tables.split("✓").length - 1, tables.split("✗").length - 1];
  const count = met + missed === 0 ? "" : `${met} of ${met + missed} targets are met (✓).`;
  const failed = failures.length === 0 ? "" : `Failed:\n\n${failures.join("\n")}`;
  return [count, tables, failed]
    .join("\n\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** The ratios of CPU per request with their targets, where both contenders were measured. */
function printRatios({ workloads, ratioTargets, cells }: BenchmarkRun): string {
  const isMeasured = (target: CpuRatioTarget, { name }: Workload) => findCpuRatio(target, name, cells) !== undefined;
  const rows = ratioTargets.filter((target) => workloads.some((workload) => isMeasured(target, workload)));
  const columns = workloads.filter(
    (workload) => workload.order === "in turn" && rows.some((target) => isMeasured(target, workload)),
  );
  return printTable(
    ["CPU per request", ...columns.map(({ title }) => title)],
    rows.map((target) => [target.title, ...columns.map(({ name }) => printRatio(target, name, cells))]),
  );
}

/** All contenders without a baseline under one workload. */
function printWorkload(
  { title, name }: Workload,
  { contenders, cells, failures, memoryReference = "" }: BenchmarkRun,
): string {
  const rssBytesMax = summarize(cells, name, memoryReference)?.rssBytes;
  const rows = contenders.flatMap((contender) => {
    if (contender.baseline) return [];
    const summary = summarize(cells, name, contender.name);
    const hasFailed = failures.some((each) => each.workload === name && each.contender === contender.name);
    if (!summary) return hasFailed ? [[contender.title, "failed", ...Array<string>(7).fill("–")]] : [];
    return [[contender.title, ...printSummary(summary, contender, rssBytesMax)]];
  });
  const columns = [
    "CPU µs per request",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "RSS MB",
    "fetches",
    "load's core",
    "others",
  ];
  return printTable([title, ...columns], rows);
}

function printSummary(summary: Summary, { isOurs }: Contender, rssBytesMax: number | undefined): readonly string[] {
  const rss = toMegabytes(summary.rssBytes);
  const hasTarget = isOurs && rssBytesMax !== undefined;
  return [
    toDigits(summary.cpuMicros),
    summary.requestsPerSecond.toFixed(0),
    toDigits(summary.p50Ms),
    toDigits(summary.p99Ms),
    hasTarget ? `${rss} ${summary.rssBytes <= rssBytesMax ? "✓" : "✗"}` : rss,
    summary.fetchesPerRequest.toFixed(1),
    toPercent(summary.loadCoreShare),
    toPercent(summary.otherCpuShareMax),
  ];
}

/** The contenders with a baseline. */
function printPairs({ workloads, contenders, cells }: BenchmarkRun): string {
  const rows = workloads.flatMap((workload) =>
    contenders.flatMap((contender) => {
      const pairs = cells.flatMap(({ baseline, ...cell }) =>
        baseline && cell.workload === workload.name && cell.contender === contender.name ? [{ cell, baseline }] : [],
      );
      return pairs.length === 0 ? [] : [[`${workload.title}, ${contender.title}`, ...printPair(pairs, contender)]];
    }),
  );
  return printTable(
    ["", "ratio", "95 % interval", "ratios of the rounds", "CPU µs per request", "baseline", "RSS MB", "baseline"],
    rows,
  );
}

/** The medians of the rounds, the interval of the ratio's median, and the lowest and highest ratio of a round. */
function printPair(
  pairs: readonly { readonly cell: ProcessReport; readonly baseline: ProcessReport }[],
  { baselineRatioMax = Infinity }: Contender,
): readonly string[] {
  const ratios = pairs.map(({ cell, baseline }) => toCpuMicros(cell) / toCpuMicros(baseline));
  const mark = baselineRatioMax === Infinity ? "" : median(ratios) <= baselineRatioMax ? " ✓" : " ✗";
  const medianOf = (read: (pair: (typeof pairs)[number]) => number) => median(pairs.map(read));
  return [
    `${median(ratios).toFixed(2)}×${mark}`,
    medianInterval(ratios)
      .map((ratio) => ratio.toFixed(2))
      .join("–"),
    `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    medianOf(({ cell }) => toCpuMicros(cell)).toFixed(1),
    medianOf(({ baseline }) => toCpuMicros(baseline)).toFixed(1),
    toMegabytes(medianOf(({ cell }) => cell.rssBytesMax)),
    toMegabytes(medianOf(({ baseline }) => baseline.rssBytesMax)),
  ];
}

/** The event loop's pauses under a workload that has a probe. */
function printPauses({ name, title }: Workload, { contenders, cells }: BenchmarkRun): string {
  const rows = contenders.flatMap((contender) => {
    const pauses = summarize(cells, name, contender.name)?.pauses;
    if (!pauses) return [];
    const target = ` ${pauses.insideMaxMs <= loopPauseMsMax ? "✓" : "✗"} (≤ ${loopPauseMsMax})`;
    const longest = toDigits(pauses.insideMaxMs) + (contender.isOurs ? target : "");
    return [[contender.title, longest, ...[pauses.workMaxMs, pauses.probeMaxMs, pauses.probeP99Ms].map(toDigits)]];
  });
  const columns = ["longest pause, ms", "longest CPU time, ms", "longest probe, ms", "probe p99, ms"];
  return printTable([`${title}: pauses`, ...columns], rows);
}

/** Prints one measurement as a line of progress. */
export function printProgress(cell: Cell): string {
  const { workload, contender, round, latencyMs, baseline, probeMs, otherCpuShare, computed } = cell;
  const cpuMicros = toCpuMicros(cell);
  const parts = [
    `${toDigits(cpuMicros)} µs CPU per request`,
    baseline && `ratio ${(cpuMicros / toCpuMicros(baseline)).toFixed(2)}×`,
    `${(cell.requests / cell.seconds).toFixed(0)}/s`,
    `p99 ${toDigits(latencyMs.p99)} ms`,
    `${toMegabytes(cell.rssBytesMax)} MB`,
    probeMs && `longest pause ${toDigits((cell.preloadReport as LoopPauses).maxMs)} ms`,
    otherCpuShare > 0.03 && `other processes used ${toPercent(otherCpuShare)} of its core`,
    computed > 0 && `${computed} subgraph responses were computed`,
  ];
  return `${workload} ${contender} #${round}: ${parts.filter(Boolean).join(", ")}`;
}

/** Three significant digits. */
function toDigits(number: number): string {
  return number >= 100 ? number.toFixed(0) : number.toPrecision(3);
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
