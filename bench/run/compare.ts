import type { Contender, ContenderName } from "../contenders/contenders.ts";
import type { Workload, WorkloadName } from "../workloads/workloads.ts";
import type { LoopPauses } from "../inside/loop-pauses.ts";
import { createInsider } from "./insider.ts";
import { type Cell, type CellOptions, measureCell } from "./measure-cell.ts";

export interface Comparison {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly onCell: (measured: Measured) => void;
  readonly onFailure: (failure: Failure) => void;
}

export interface Measured {
  readonly workload: WorkloadName;
  readonly contender: ContenderName;
  readonly round: number;
  readonly cell: Cell<LoopPauses>;
}

/** A contender that answers wrongly, or not at all, has no figures; the others go on. */
export interface Failure {
  readonly workload: WorkloadName;
  readonly contender: ContenderName;
  readonly problem: string;
}

/** Each workload in rounds, and in each round every contender once: A B C, A B C, … */
export async function compare(c: Comparison, options: CellOptions): Promise<void> {
  for (const workload of c.workloads) {
    let standing = c.contenders;
    for (let round = 1; round <= c.rounds; round += 1) {
      standing = await measureRound({ ...c, contenders: standing }, workload, round, options);
    }
  }
}

/** Resolves with those that did not fail: the others take no part in this workload's further rounds. */
async function measureRound(c: Comparison, workload: Workload, round: number, options: CellOptions) {
  const standing: Contender[] = [];
  for (const contender of c.contenders) {
    if (await measureOnce(c, workload, contender, round, options)) standing.push(contender);
  }
  return standing;
}

/** False when it failed. */
async function measureOnce(
  { onCell, onFailure }: Comparison,
  workload: Workload,
  contender: Contender,
  round: number,
  options: CellOptions,
): Promise<boolean> {
  const what = { workload: workload.name, contender: contender.name };
  const insider = workload.probeEveryMs === undefined ? undefined : createInsider<LoopPauses>("loop-pauses");
  try {
    onCell({ ...what, round, cell: await measureCell(contender, workload, options, insider) });
    return true;
  } catch (error) {
    onFailure({ ...what, problem: error instanceof Error ? error.message : String(error) });
    return false;
  }
}
