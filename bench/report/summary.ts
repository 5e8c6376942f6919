// Medians of the rounds, and their comparison with the targets.
import type { Benchmark, CpuRatioTarget } from "../benchmark.ts";
import type { Cell } from "../measure/measure-cell.ts";
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

/** The target for the longest pause of the event loop under a workload with a probe, measured inside the process. */
export const loopPauseMsMax = 20;

/** CPU time per request, in microseconds. */
export function toCpuMicros({ cpuSeconds, requests }: Pick<Cell, "cpuSeconds" | "requests">): number {
  return (cpuSeconds / requests) * 1e6;
}

export type Summary = NonNullable<ReturnType<typeof summarize>>;

/** The medians of the rounds, and the maxima of all rounds. Undefined if no round was measured. */
export function summarize(cells: readonly Cell[], workload: string, contender: string) {
  const rounds = cells.filter((cell) => cell.workload === workload && cell.contender === contender);
  if (rounds.length === 0) return undefined;
  const medianOf = (read: (cell: Cell) => number) => median(rounds.map(read));
  const maxOf = (read: (cell: Cell) => number) => Math.max(...rounds.map(read));
  const readPauses = ({ preloadReport }: Cell) => preloadReport as LoopPauses;
  return {
    cpuMicros: medianOf(toCpuMicros),
    requestsPerSecond: medianOf(({ requests, seconds }) => requests / seconds),
    p50Ms: medianOf(({ latencyMs }) => latencyMs.p50),
    p99Ms: medianOf(({ latencyMs }) => latencyMs.p99),
    rssBytes: medianOf(({ rssBytesMax }) => rssBytesMax),
    fetchesPerRequest: medianOf(({ fetches, requests }) => fetches / requests),
    loadCoreShare: medianOf(({ loadCoreShare }) => loadCoreShare),
    otherCpuShareMax: maxOf(({ otherCpuShare }) => otherCpuShare),
    pauses: rounds[0]?.probeMs && {
      insideMaxMs: maxOf((cell) => readPauses(cell).maxMs),
      workMaxMs: maxOf((cell) => readPauses(cell).workMaxMs),
      probeMaxMs: maxOf(({ probeMs }) => probeMs?.max ?? 0),
      probeP99Ms: medianOf(({ probeMs }) => probeMs?.p99 ?? 0),
    },
  };
}

/**
 * Returns the median of the rounds' ratios, because both contenders of a ratio then ran in one round, so close together in time. Undefined if a
 * contender was not measured, or if both sides are the same measurement.
 */
export function findCpuRatio(target: CpuRatioTarget, workload: string, cells: readonly Cell[]): number | undefined {
  const { numerator, denominator, denominatorWorkload = workload } = target;
  if (numerator === denominator && workload === denominatorWorkload) return undefined;
  const find = (contender: string, name: string) =>
    cells.filter((cell) => cell.contender === contender && cell.workload === name);
  const divisors = find(denominator, denominatorWorkload);
  const ratios = find(numerator, workload).flatMap((cell) => {
    const divisor = divisors.find(({ round }) => round === cell.round);
    return divisor === undefined ? [] : [toCpuMicros(cell) / toCpuMicros(divisor)];
  });
  return ratios.length === 0 ? undefined : median(ratios);
}

/** Formats "12× ✓ (≥ 9)" or "1.16× ✗ (≤ 1.15)", "2.1×" without a target, "–" without a measurement. */
export function printRatio(target: CpuRatioTarget, workload: string, cells: readonly Cell[]): string {
  const value = findCpuRatio(target, workload, cells);
  const { [workload]: min = 0 } = target.min ?? {};
  const { [workload]: max = Infinity } = target.max ?? {};
  const bound = min > 0 ? ` (≥ ${min})` : max < Infinity ? ` (≤ ${max})` : "";
  if (value === undefined) return `–${bound}`;
  const mark = bound === "" ? "" : value >= min && value <= max ? " ✓" : " ✗";
  return `${value.toFixed(value < 3 ? 2 : value < 9.95 ? 1 : 0)}×${mark}${bound}`;
}

export function toMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
