import type { WorkloadName } from "../workloads/workloads.ts";
import type { Summaries } from "./summary.ts";
import type { RatioRow } from "./targets.ts";

export interface Ratio {
  /** CPU per request of the numerator divided by that of the denominator; undefined if either was not measured. */
  readonly value: number | undefined;
  readonly min: number | undefined;
  readonly isMet: boolean;
}

export function findRatio(row: RatioRow, workload: WorkloadName, summaries: Summaries): Ratio {
  const denominator = summaries.find(workload, row.denominator)?.cpuMsPerRequest;
  const numerator = summaries.find(workload, row.numerator)?.cpuMsPerRequest;
  const value = denominator === undefined || numerator === undefined ? undefined : numerator / denominator;
  const min = row.min[workload];
  return { value, min, isMet: value !== undefined && min !== undefined && value >= min };
}

/** Formats "12× ✓ (≥ 9)" or "2.1× ✗ (≥ 9)", "2.1×" without a target, "–" without a measurement. */
export function printRatio({ value, min, isMet }: Ratio): string {
  if (value === undefined) return min === undefined ? "–" : `– (≥ ${min})`;
  const digits = value < 1.05 ? 2 : value < 9.95 ? 1 : 0;
  const number = `${value.toFixed(digits)}×`;
  return min === undefined ? number : `${number} ${isMet ? "✓" : "✗"} (≥ ${min})`;
}
