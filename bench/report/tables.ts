import type { Contender } from "../contenders/contenders.ts";
import type { Workload } from "../workloads/workloads.ts";
import { printTable } from "./markdown.ts";
import { findRatio, printRatio } from "./ratios.ts";
import type { Summaries, Summary } from "./summary.ts";
import { loopPauseMsMax, ratioRows } from "./targets.ts";

export interface Tabled {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  readonly summaries: Summaries;
}

/** CPU per request of one by that of another, with the targets; rows of which nothing was measured are left out. */
export function printRatios({ contenders, workloads, summaries }: Tabled): string {
  const compared = workloads.filter(({ order }) => order === "in turn");
  const measured = new Set(contenders.map(({ name }) => name));
  const rows = ratioRows
    .filter(({ one, other }) => measured.has(one) && measured.has(other))
    .map((row) => [row.title, ...compared.map(({ name }) => printRatio(findRatio(row, name, summaries)))]);
  return rows.length === 0 || compared.length === 0
    ? ""
    : printTable(["CPU per request", ...compared.map(({ title }) => title)], rows);
}

/** Every contender's figures under one workload. */
export function printFigures({ title, name }: Workload, { contenders, summaries }: Tabled): string {
  const stockRss = summaries.find(name, "stock")?.rssBytesMax;
  const rows = contenders.map((contender) => {
    const summary = summaries.find(name, contender.name);
    return [contender.title, ...(summary ? toFigures(summary, stockRss, contender) : unmeasured)];
  });
  const head = [title, "CPU s / 1,000", "requests/s", "p50 ms", "p99 ms", "RSS MB", "fetches", "load's core", "others"];
  return printTable(head, rows);
}

const unmeasured = ["failed", "–", "–", "–", "–", "–", "–", "–"];

function toFigures(summary: Summary, stockRss: number | undefined, { isOurs }: Contender): readonly string[] {
  const isHeld = isOurs && stockRss !== undefined;
  const rss = (summary.rssBytesMax / 1e6).toFixed(0);
  return [
    toDigits(summary.cpuMsPerRequest),
    summary.requestsPerSecond.toFixed(0),
    toDigits(summary.p50Ms),
    toDigits(summary.p99Ms),
    isHeld ? `${rss} ${summary.rssBytesMax <= stockRss ? "✓" : "✗"}` : rss,
    summary.fetchesPerRequest.toFixed(1),
    toPercent(summary.loadCore),
    toPercent(summary.neighbours),
  ];
}

/** The event loop's pauses, where a workload is about them. */
export function printPauses({ name, title }: Workload, { contenders, summaries }: Tabled): string {
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
    [`${title}: pauses`, "longest, from inside, ms", "most work at once, ms", "longest probe, ms", "probe p99, ms"],
    rows,
  );
}

/** Three digits that mean something. */
function toDigits(number: number): string {
  return number >= 100 ? number.toFixed(0) : number.toPrecision(3);
}

function toPercent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}
