import type { Profiler } from "node:inspector";
import type { Contender } from "../contenders/contenders.ts";
import type { Workload } from "../workloads/workloads.ts";
import { createInsider } from "./insider.ts";
import { type Cell, type CellOptions, measureCell } from "./measure-cell.ts";

export interface Profiled {
  readonly contender: Contender;
  readonly workload: Workload;
  readonly cell: Cell<Profiler.Profile | null>;
}

/** One window under load with the profiler of the main thread on; the figures beside it are a little worse for that. */
export async function profile(contender: Contender, workload: Workload, options: CellOptions): Promise<Profiled> {
  const insider = createInsider<Profiler.Profile | null>("cpu-profile");
  return { contender, workload, cell: await measureCell(contender, workload, options, insider) };
}
