import type { Measured } from "../run/compare.ts";

/** One measurement in one line, for somebody who waits. */
export function printCell({ workload, contender, round, cell }: Measured): string {
  const parts = [
    `${workload} ${contender} #${round}:`,
    `${cell.cpuMsPerRequest.toFixed(3)} ms CPU a request,`,
    `${cell.requestsPerSecond.toFixed(0)}/s,`,
    `p50 ${cell.latencyMs.p50.toFixed(1)} p99 ${cell.latencyMs.p99.toFixed(1)} ms,`,
    `${(cell.rssBytesMax / 1e6).toFixed(0)} MB,`,
    `${cell.fetchesPerRequest.toFixed(2)} fetches`,
  ];
  if (cell.told)
    parts.push(
      `longest pause ${cell.told.maxMs.toFixed(1)} ms, most work at once ${cell.told.workMaxMs.toFixed(1)} ms, probe ${cell.probeMs?.max.toFixed(1)} ms`,
    );
  if (cell.neighbours[0] > 0.03) parts.push(`(others took ${(cell.neighbours[0] * 100).toFixed(0)} % of its core)`);
  if (cell.computed > 0) parts.push(`(${cell.computed} subgraph answers had to be computed)`);
  return parts.join(" ");
}
