import type { ContenderName } from "../contenders/contenders.ts";
import type { LoopPauses } from "../inside/loop-pauses.ts";
import { median } from "../measure/median.ts";
import type { Measured } from "../run/compare.ts";
import type { Cell } from "../run/measure-cell.ts";
import type { WorkloadName } from "../workloads/workloads.ts";

/** One contender under one workload: medians over the rounds, but the longest pause of all. */
export interface Summary {
  readonly cpuMsPerRequest: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rssBytesMax: number;
  readonly fetchesPerRequest: number;
  /** How busy the load's core was, everybody counted: near 1 the load is the bottleneck, and only CPU figures hold. */
  readonly loadCore: number;
  /** What others took of the gateway's core, the worst of the rounds. */
  readonly neighbours: number;
  readonly pauses?: {
    readonly insideMaxMs: number;
    readonly workMaxMs: number;
    readonly probeMaxMs: number;
    readonly probeP99Ms: number;
  };
}

export interface Summaries {
  find(workload: WorkloadName, contender: ContenderName): Summary | undefined;
}

export function summarize(measured: readonly Measured[]): Summaries {
  return {
    find(workload, contender) {
      const cells = measured.filter((one) => one.workload === workload && one.contender === contender);
      return cells.length === 0 ? undefined : toSummary(cells.map(({ cell }) => cell));
    },
  };
}

function toSummary(cells: readonly Cell<LoopPauses>[]): Summary {
  const of = (read: (cell: Cell<LoopPauses>) => number) => median(cells.map(read));
  const worst = (read: (cell: Cell<LoopPauses>) => number) => Math.max(...cells.map(read));
  const loadCore = of((cell) => (cell.cpuSeconds.load + cell.cpuSeconds.subgraphs) / cell.seconds + cell.neighbours[1]);
  return {
    cpuMsPerRequest: of((cell) => cell.cpuMsPerRequest),
    requestsPerSecond: of((cell) => cell.requestsPerSecond),
    p50Ms: of((cell) => cell.latencyMs.p50),
    p99Ms: of((cell) => cell.latencyMs.p99),
    rssBytesMax: of((cell) => cell.rssBytesMax),
    fetchesPerRequest: of((cell) => cell.fetchesPerRequest),
    loadCore,
    neighbours: worst((cell) => cell.neighbours[0]),
    ...(cells[0]?.told && {
      pauses: {
        insideMaxMs: worst((cell) => cell.told?.maxMs ?? 0),
        workMaxMs: worst((cell) => cell.told?.workMaxMs ?? 0),
        probeMaxMs: worst((cell) => cell.probeMs?.max ?? 0),
        probeP99Ms: of((cell) => cell.probeMs?.p99 ?? 0),
      },
    }),
  };
}
