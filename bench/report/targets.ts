import type { ContenderName } from "../contenders/contenders.ts";
import type { WorkloadName } from "../workloads/workloads.ts";

/** How many times less CPU a request costs the one than the other. */
export interface RatioRow {
  readonly title: string;
  readonly one: ContenderName;
  readonly other: ContenderName;
  /** At least so many times; a workload without a number has no target. */
  readonly min: Partial<Readonly<Record<WorkloadName, number>>>;
}

const toMin = (heavy: number, varying: number, small: number, unshareable: number, trivial: number, turn?: number) => ({
  heavy,
  "heavy-varying": varying,
  small,
  "small-unshareable": unshareable,
  trivial,
  ...(turn !== undefined && { documents: turn }),
});

/** The promises about speed, and below them, without a target, what a reader wants to compare them with. */
export const ratioRows: readonly RatioRow[] = [
  { title: "ours, full lane ÷ stock", one: "ours-full", other: "stock", min: toMin(15, 15, 12, 5.5, 7, 7) },
  {
    title: "ours, fast lane, nothing shared ÷ stock",
    one: "ours-fast-alone",
    other: "stock",
    min: toMin(9, 9, 12, 10, 9, 12),
  },
  { title: "ours, fast lane ÷ stock", one: "ours-fast", other: "stock", min: toMin(20, 20, 30, 10, 20, 15) },
  {
    title: "ours, fast lane, nothing shared ÷ Hive",
    one: "ours-fast-alone",
    other: "hive",
    min: toMin(3, 3, 3, 8, 3),
  },
  {
    title: "ours, fast lane, nothing shared ÷ Mercurius",
    one: "ours-fast-alone",
    other: "mercurius",
    min: toMin(9, 9, 1.4, 1.4, 1.4),
  },
  { title: "ours, full lane, nothing shared ÷ stock", one: "ours-full-alone", other: "stock", min: {} },
  { title: "ours, fast lane ÷ Hive, inbound dedup", one: "ours-fast", other: "hive-dedup", min: {} },
  { title: "Hive, inbound dedup ÷ stock", one: "hive-dedup", other: "stock", min: {} },
  { title: "Hive ÷ stock", one: "hive", other: "stock", min: {} },
  { title: "Mercurius ÷ stock", one: "mercurius", other: "stock", min: {} },
];

/** With unknown heavy documents, seen from inside the process. */
export const loopPauseMsMax = 20;
