import type { ContenderName } from "../contenders/contenders.ts";
import type { LoopPauses } from "../preload/loop-pauses.ts";
import { median } from "../measure/quantile.ts";
import type { MeasuredCell } from "../run/compare.ts";
import type { Cell } from "../run/measure-cell.ts";
import type { WorkloadName } from "../workloads/workloads.ts";

/** One contender under one workload: medians of the rounds, except for maxima, which are the maxima of all rounds. */
export interface Summary {
  readonly cpuMsPerRequest: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rssBytesMax: number;
  readonly fetchesPerRequest: number;
  /** The share of the load's core used by all processes. Near 1, the load generator is the bottleneck and only CPU times are valid. */
  readonly loadCoreShare: number;
  /** The share of the gateway's core used by other processes, the maximum of the rounds. */
  readonly otherCpuShare: number;
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

export function summarize(measured: readonly MeasuredCell[]): Summaries {
  return {
    find(workload, contender) {
      const cells = measured.filter((each) => each.workload === workload && each.contender === contender);
      return cells.length === 0 ? undefined : toSummary(cells.map(({ cell }) => cell));
    },
  };
}

function toSummary(cells: readonly Cell<LoopPauses>[]): Summary {
  const medianOf = (read: (cell: Cell<LoopPauses>) => number) => median(cells.map(read));
  const maxOf = (read: (cell: Cell<LoopPauses>) => number) => Math.max(...cells.map(read));
  const loadCoreShare = medianOf(
    (cell) => (cell.cpuSeconds.load + cell.cpuSeconds.subgraphs) / cell.seconds + cell.otherCpuShares[1],
  );
  return {
    cpuMsPerRequest: medianOf((cell) => cell.cpuMsPerRequest),
    requestsPerSecond: medianOf((cell) => cell.requestsPerSecond),
    p50Ms: medianOf((cell) => cell.latencyMs.p50),
    p99Ms: medianOf((cell) => cell.latencyMs.p99),
    rssBytesMax: medianOf((cell) => cell.rssBytesMax),
    fetchesPerRequest: medianOf((cell) => cell.fetchesPerRequest),
    loadCoreShare,
    otherCpuShare: maxOf((cell) => cell.otherCpuShares[0]),
    ...(cells[0]?.preloadReport && {
      pauses: {
        insideMaxMs: maxOf((cell) => cell.preloadReport?.maxMs ?? 0),
        workMaxMs: maxOf((cell) => cell.preloadReport?.workMaxMs ?? 0),
        probeMaxMs: maxOf((cell) => cell.probeMs?.max ?? 0),
        probeP99Ms: medianOf((cell) => cell.probeMs?.p99 ?? 0),
      },
    }),
  };
}
