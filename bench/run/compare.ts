import type { Contender, ContenderName } from "../contenders/contenders.ts";
import type { Workload, WorkloadName } from "../workloads/workloads.ts";
import type { LoopPauses } from "../preload/loop-pauses.ts";
import { type Cell, type CellOptions, measureCell } from "./measure-cell.ts";
import { createPreload } from "./preload.ts";

export interface Comparison {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly onCell: (measured: MeasuredCell) => void;
  readonly onFailure: (failure: CellFailure) => void;
}

export interface MeasuredCell {
  readonly workload: WorkloadName;
  readonly contender: ContenderName;
  readonly round: number;
  readonly cell: Cell<LoopPauses>;
}

export interface CellFailure {
  readonly workload: WorkloadName;
  readonly contender: ContenderName;
  readonly problem: string;
}

/** Measures each workload in rounds. In each round every contender runs once: A B C, A B C, … */
export async function compare(c: Comparison, options: CellOptions): Promise<void> {
  for (const workload of c.workloads) {
    let remaining = c.contenders;
    for (let round = 1; round <= c.rounds; round += 1) {
      remaining = await measureRound({ ...c, contenders: remaining }, workload, round, options);
    }
  }
}

/** Resolves with the contenders that did not fail: only these run in the workload's further rounds. */
async function measureRound(c: Comparison, workload: Workload, round: number, options: CellOptions) {
  const remaining: Contender[] = [];
  for (const contender of c.contenders) {
    if (await measureOnce(c, workload, contender, round, options)) remaining.push(contender);
  }
  return remaining;
}

/** Resolves with false if the contender failed. */
async function measureOnce(
  { onCell, onFailure }: Comparison,
  workload: Workload,
  contender: Contender,
  round: number,
  options: CellOptions,
): Promise<boolean> {
  const names = { workload: workload.name, contender: contender.name };
  const preload = workload.probeEveryMs === undefined ? undefined : createPreload<LoopPauses>("loop-pauses");
  try {
    onCell({ ...names, round, cell: await measureCell(contender, workload, options, preload) });
    return true;
  } catch (error) {
    onFailure({ ...names, problem: error instanceof Error ? error.message : String(error) });
    return false;
  }
}
