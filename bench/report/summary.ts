// Medians of the rounds, and their comparison with the targets.
import type { Benchmark, CpuRatioTarget } from "../benchmarks/benchmark.ts";
import type { Cell } from "../cells/measure-cell.ts";
import { median } from "../measure/quantile.ts";
import type { LoopPauses } from "../preload/loop-pauses.ts";

/** A benchmark, reduced to the measured contenders and workloads, with the results. */
export interface BenchmarkRun extends Benchmark {
  readonly cells: readonly Cell[];
  readonly failures: readonly CellFailure[];
}

export interface CellFailure {
  readonly workload: string;
  readonly contender: string;
  readonly problem: string;
}

/**
 * The target for the longest pause of the event loop under a workload with a probe (a second client, whose small requests are timed), measured inside
 * the process.
 */
export const loopPauseMsMax = 20;

/** CPU time per request, in microseconds. */
export function toCpuMicros({ cpuSeconds, requests }: Pick<Cell, "cpuSeconds" | "requests">): number {
  return (cpuSeconds / requests) * 1e6;
}

export type Summary = NonNullable<ReturnType<typeof summarize>>;

/** The medians of the rounds, and the maxima of all rounds. Undefined if no round was measured. */
export function summarize(cells: readonly Cell[], workload: string, contender: string) {
  const rounds = cells.filter((cell) => cell.workload === workload && cell.contender === contender);
  const [firstRound] = rounds;
  if (firstRound === undefined) return undefined;
  const medianOf = (read: (cell: Cell) => number) => median(rounds.map(read));
  const maxOf = (read: (cell: Cell) => number) => Math.max(...rounds.map(read));
  const hasProbe = firstRound.probeMs !== undefined;
  return {
    cpuMicros: medianOf(toCpuMicros),
    requestsPerSecond: medianOf(({ requests, seconds }) => requests / seconds),
    p50Ms: medianOf(({ latencyMs }) => latencyMs.p50),
    p99Ms: medianOf(({ latencyMs }) => latencyMs.p99),
    rssBytes: medianOf(({ rssBytesMax }) => rssBytesMax),
    fetchesPerRequest: medianOf(({ fetches, requests }) => fetches / requests),
    loadCoreShare: medianOf(({ loadCoreShare }) => loadCoreShare),
    otherCpuShareMax: maxOf(({ otherCpuShare }) => otherCpuShare),
    pauses: hasProbe ? summarizePauses(rounds) : undefined,
  };
}

/** @param rounds of a workload with a probe: their `preloadReport` is that of loop-pauses.ts. */
function summarizePauses(rounds: readonly Cell[]) {
  const loopPauses = rounds.map(({ preloadReport }) => preloadReport as LoopPauses);
  return {
    insideMaxMs: Math.max(...loopPauses.map(({ maxMs }) => maxMs)),
    // The longest CPU time between two iterations of the event loop, which other processes do not affect.
    workMaxMs: Math.max(...loopPauses.map(({ workMaxMs }) => workMaxMs)),
    probeMaxMs: Math.max(...rounds.map(({ probeMs }) => probeMs?.max ?? 0)),
    probeP99Ms: median(rounds.map(({ probeMs }) => probeMs?.p99 ?? 0)),
  };
}

/**
 * Returns the median of the rounds' ratios: the two measurements of such a ratio are of one round, so they are close together in time. Undefined if a
 * contender was not measured, or if both sides are the same measurement.
 */
export function findCpuRatio(target: CpuRatioTarget, workload: string, cells: readonly Cell[]): number | undefined {
  const { numerator, denominator, denominatorWorkload = workload } = target;
  if (numerator === denominator && workload === denominatorWorkload) return undefined;
  const listRounds = (contender: string, workloadName: string) =>
    cells.filter((cell) => cell.contender === contender && cell.workload === workloadName);
  const denominatorRounds = listRounds(denominator, denominatorWorkload);
  const ratios: number[] = [];
  for (const numeratorCell of listRounds(numerator, workload)) {
    const denominatorCell = denominatorRounds.find(({ round }) => round === numeratorCell.round);
    if (denominatorCell) ratios.push(toCpuMicros(numeratorCell) / toCpuMicros(denominatorCell));
  }
  return ratios.length === 0 ? undefined : median(ratios);
}

/** Formats "12× ✓ (≥ 9)" or "1.16× ✗ (≤ 1.15)", "2.10×" without a target, "–" without a measurement. */
export function formatRatio(target: CpuRatioTarget, workload: string, cells: readonly Cell[]): string {
  const ratio = findCpuRatio(target, workload, cells);
  const min = target.min?.[workload];
  const max = target.max?.[workload];
  const bound = formatBound(min, max);
  if (ratio === undefined) return `–${bound}`;
  if (bound === "") return `${toRatioDigits(ratio)}×`;
  const isMet = ratio >= (min ?? 0) && ratio <= (max ?? Infinity);
  return `${toRatioDigits(ratio)}× ${isMet ? "✓" : "✗"}${bound}`;
}

function formatBound(min: number | undefined, max: number | undefined): string {
  if (min !== undefined) return ` (≥ ${min})`;
  if (max !== undefined) return ` (≤ ${max})`;
  return "";
}

/** Two or three significant digits. */
function toRatioDigits(ratio: number): string {
  if (ratio < 3) return ratio.toFixed(2);
  // Above, one decimal would be rounded to 10.0.
  if (ratio < 9.95) return ratio.toFixed(1);
  return ratio.toFixed(0);
}

export function toMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
