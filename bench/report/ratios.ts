import type { WorkloadName } from "../workloads/workloads.ts";
import type { Summaries } from "./summary.ts";
import type { RatioRow } from "./targets.ts";

export interface Ratio {
  /** The other's CPU per request by the one's; undefined when one of the two was not measured. */
  readonly times: number | undefined;
  readonly min: number | undefined;
  readonly isMet: boolean;
}

export function findRatio(row: RatioRow, workload: WorkloadName, summaries: Summaries): Ratio {
  const one = summaries.find(workload, row.one)?.cpuMsPerRequest;
  const other = summaries.find(workload, row.other)?.cpuMsPerRequest;
  const times = one === undefined || other === undefined ? undefined : other / one;
  const min = row.min[workload];
  return { times, min, isMet: times !== undefined && min !== undefined && times >= min };
}

/** "12.3× ✓ (≥ 9)", "0.95×", "2.1× ✗ (≥ 9)", without a target "2.1×", and "–" where nothing was measured. */
export function printRatio({ times, min, isMet }: Ratio): string {
  if (times === undefined) return min === undefined ? "–" : `– (≥ ${min})`;
  const digits = times < 1.05 ? 2 : times < 9.95 ? 1 : 0;
  const number = `${times.toFixed(digits)}×`;
  return min === undefined ? number : `${number} ${isMet ? "✓" : "✗"} (≥ ${min})`;
}
