import type { Failure } from "../run/compare.ts";
import { printFigures, printPauses, printRatios, type Tabled } from "./tables.ts";
import { listVerdicts, printVerdicts } from "./verdict.ts";

/** The tables of a run, and what failed in it. */
export function printReport(tabled: Tabled, failures: readonly Failure[]): string {
  const figures = tabled.workloads.map((workload) => printFigures(workload, tabled));
  const pauses = tabled.workloads.filter((workload) => workload.probeEveryMs !== undefined);
  const failed = failures.map(({ workload, contender, problem }) => `- **${contender}, ${workload}**: ${problem}`);
  return [
    printRatios(tabled),
    printVerdicts(listVerdicts(tabled)),
    ...figures,
    ...pauses.map((workload) => printPauses(workload, tabled)),
    failed.length === 0 ? "" : `Failed:\n\n${failed.join("\n")}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
