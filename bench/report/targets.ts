import type { ContenderName } from "../contenders/contenders.ts";
import type { WorkloadName } from "../workloads/workloads.ts";

/** A row of the ratio table: CPU per request of the numerator divided by that of the denominator. */
export interface RatioRow {
  readonly title: string;
  readonly numerator: ContenderName;
  readonly denominator: ContenderName;
  /** The target per workload; a workload without a number has no target. */
  readonly min: Partial<Readonly<Record<WorkloadName, number>>>;
}

const toMin = (
  heavy: number,
  varying: number,
  small: number,
  unshareable: number,
  trivial: number,
  documents?: number,
) => ({
  heavy,
  "heavy-varying": varying,
  small,
  "small-unshareable": unshareable,
  trivial,
  ...(documents !== undefined && { documents }),
});

/** The rows with targets first, then rows for comparison. */
export const ratioRows: readonly RatioRow[] = [
  {
    title: "stock ÷ Tributary, full path",
    numerator: "stock",
    denominator: "ours-full",
    min: toMin(15, 15, 12, 5.5, 7, 7),
  },
  {
    title: "stock ÷ Tributary, fast path, fetch sharing off",
    numerator: "stock",
    denominator: "ours-fast-alone",
    min: toMin(9, 9, 12, 10, 9, 12),
  },
  {
    title: "stock ÷ Tributary, fast path",
    numerator: "stock",
    denominator: "ours-fast",
    min: toMin(20, 20, 30, 10, 20, 15),
  },
  {
    title: "Hive ÷ Tributary, fast path, fetch sharing off",
    numerator: "hive",
    denominator: "ours-fast-alone",
    min: toMin(3, 3, 3, 8, 3),
  },
  {
    title: "Mercurius ÷ Tributary, fast path, fetch sharing off",
    numerator: "mercurius",
    denominator: "ours-fast-alone",
    min: toMin(9, 9, 1.4, 1.4, 1.4),
  },
  {
    title: "stock ÷ Tributary, full path, fetch sharing off",
    numerator: "stock",
    denominator: "ours-full-alone",
    min: {},
  },
  { title: "Hive, inbound dedup ÷ Tributary, fast path", numerator: "hive-dedup", denominator: "ours-fast", min: {} },
  { title: "stock ÷ Hive, inbound dedup", numerator: "stock", denominator: "hive-dedup", min: {} },
  { title: "stock ÷ Hive", numerator: "stock", denominator: "hive", min: {} },
  { title: "stock ÷ Mercurius", numerator: "stock", denominator: "mercurius", min: {} },
];

/** Target under the cold workload, measured inside the process. */
export const loopPauseMsMax = 20;
