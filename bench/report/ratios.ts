import type { WorkloadName } from "../workloads/workloads.ts";
import type { Summaries } from "./summary.ts";
import type { RatioRow } from "./targets.ts";

export interface Ratio {
  /** CPU per request of the numerator divided by that of the denominator; undefined if either was not measured. */
  readonly times: number | undefined;
  readonly min: number | undefined;
  readonly isMet: boolean;
}

export function findRatio(row: RatioRow, workload: WorkloadName, summaries: Summaries): Ratio {
  const denominator = summaries.find(workload, row.denominator)?.cpuMsPerRequest;
  const numerator = summaries.find(workload, row.numerator)?.cpuMsPerRequest;
  const times = denominator === undefined || numerator === undefined ? undefined : numerator / denominator;
  const min = row.min[workload];
  return { times, min, isMet: times !== undefined && min !== undefined && times >= min };
}

/** Formats "12× ✓ (≥ 9)" or "2.1× ✗ (≥ 9)", "2.1×" without a target, "–" without a measurement. */
export function printRatio({ times, min, isMet }: Ratio): string {
  if (times === undefined) return min === undefined ? "–" : `– (≥ ${min})`;
  const digits = times < 1.05 ? 2 : times < 9.95 ? 1 : 0;
  const number = `${times.toFixed(digits)}×`;
  return min === undefined ? number : `${number} ${isMet ? "✓" : "✗"} (≥ ${min})`;
}
