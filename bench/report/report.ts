import type { CellFailure, MeasuredCell } from "../run/compare.ts";
import { printWorkloadTable, printPauses, printRatios, type TableData } from "./tables.ts";
import { listVerdicts, printVerdicts } from "./verdict.ts";

/** Prints all tables, verdicts and failures of a run. */
export function printReport(tableData: TableData, failures: readonly CellFailure[]): string {
  const tables = tableData.workloads.map((workload) => printWorkloadTable(workload, tableData));
  const withPauses = tableData.workloads.filter((workload) => workload.probeEveryMs !== undefined);
  const failureLines = failures.map(
    ({ workload, contender, problem }) => `- **${contender}, ${workload}**: ${problem}`,
  );
  return [
    printRatios(tableData),
    printVerdicts(listVerdicts(tableData)),
    ...tables,
    ...withPauses.map((workload) => printPauses(workload, tableData)),
    failureLines.length === 0 ? "" : `Failed:\n\n${failureLines.join("\n")}`,
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Prints one measurement as a line of progress. */
export function printProgress({ workload, contender, round, cell }: MeasuredCell): string {
  const { preloadReport: pauses } = cell;
  const [otherCpuShare] = cell.otherCpuShares;
  const parts = [
    `${workload} ${contender} #${round}:`,
    `${cell.cpuMsPerRequest.toFixed(3)} ms CPU per request,`,
    `${cell.requestsPerSecond.toFixed(0)}/s,`,
    `p50 ${cell.latencyMs.p50.toFixed(1)} p99 ${cell.latencyMs.p99.toFixed(1)} ms,`,
    `${(cell.rssBytesMax / 1e6).toFixed(0)} MB,`,
    `${cell.fetchesPerRequest.toFixed(2)} fetches`,
  ];
  if (pauses) {
    parts.push(
      `longest pause ${pauses.maxMs.toFixed(1)} ms, longest CPU time ${pauses.workMaxMs.toFixed(1)} ms, longest probe ${cell.probeMs?.max.toFixed(1)} ms`,
    );
  }
  if (otherCpuShare > 0.03) parts.push(`(other processes used ${(otherCpuShare * 100).toFixed(0)} % of its core)`);
  if (cell.computedResponses > 0) parts.push(`(${cell.computedResponses} subgraph responses were computed)`);
  return parts.join(" ");
}
