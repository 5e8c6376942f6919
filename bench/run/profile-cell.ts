import type { Profiler } from "node:inspector";
import type { Contender } from "../contenders/contenders.ts";
import type { Workload } from "../workloads/workloads.ts";
import { createPreload } from "./preload.ts";
import { type Cell, type CellOptions, measureCell } from "./measure-cell.ts";

export interface ProfiledCell {
  readonly contender: Contender;
  readonly workload: Workload;
  readonly cell: Cell<Profiler.Profile | null>;
}

/** Measures one cell while V8's profiler runs in the main thread, which makes the measured values slightly worse. */
export async function profileCell(
  contender: Contender,
  workload: Workload,
  options: CellOptions,
): Promise<ProfiledCell> {
  const preload = createPreload<Profiler.Profile | null>("cpu-profile");
  return { contender, workload, cell: await measureCell(contender, workload, options, preload) };
}
