import { expect, test } from "vitest";
import { contenders } from "../contenders/contenders.ts";
import type { LoopPauses } from "../preload/loop-pauses.ts";
import type { MeasuredCell } from "../run/compare.ts";
import type { Cell } from "../run/measure-cell.ts";
import { workloads } from "../workloads/workloads.ts";
import { printReport } from "./report.ts";
import { printResultsSection } from "./results-section.ts";
import { summarize } from "./summary.ts";

const run = { command: "npm run bench", rounds: 3, windowMs: 5_000, warmUpMs: 4_000, skipped: [] };

test("a report contains the number of met targets and each missed target", () => {
  const report = printReport(
    toTableData([
      toMeasuredCell("stock", "heavy", { cpuMsPerRequest: 10, rssBytesMax: 400e6 }),
      toMeasuredCell("ours-fast", "heavy", { cpuMsPerRequest: 0.4, rssBytesMax: 401e6 }),
    ]),
    [],
  );
  expect(report).toContain("| stock ÷ Tributary, fast path | 25× ✓ (≥ 20) |");
  expect(report).toContain(
    "1 of 2 targets are met. Missed:\n\n- memory of Tributary, fast path, heavy: 401 MB, stock 400 MB",
  );
});

test("a result is the median of the rounds, a pause the longest of all rounds", () => {
  const rounds = [
    { cpuMsPerRequest: 3, preloadReport: { maxMs: 5, p99Ms: 1, workMaxMs: 2 } },
    { cpuMsPerRequest: 100, preloadReport: { maxMs: 21.4, p99Ms: 1, workMaxMs: 2 } },
    { cpuMsPerRequest: 4, preloadReport: { maxMs: 7, p99Ms: 1, workMaxMs: 2 } },
  ];
  const report = printReport(toTableData(rounds.map((cell) => toMeasuredCell("ours-fast", "cold", cell))), []);
  expect(report).toContain("| Tributary, fast path | 4.00 |");
  expect(report).toContain("| Tributary, fast path | 21.4 ✗ (≤ 20) | 2.00 |");
});

test("a report lists each failure with its reason", () => {
  const report = printReport(toTableData([toMeasuredCell("stock", "heavy", {})]), [
    { workload: "heavy", contender: "mercurius", problem: "a wrong result" },
  ]);
  expect(report).toContain("- **mercurius, heavy**: a wrong result");
});

test("the results of a noisy run warn about other processes and name the cells limited by the load generator", () => {
  const tableData = toTableData([
    toMeasuredCell("stock", "heavy", { otherCpuShares: [0.4, 0] }),
    toMeasuredCell("ours-fast", "heavy", { cpuSeconds: { gateway: 1, subgraphs: 3, load: 1.9 } }),
  ]);
  const results = printResultsSection(tableData, "", run);
  expect(results).toContain("**A noisy run:** other processes took up to 40 %");
  expect(results).toContain("measure the load generator: ours-fast under heavy");
});

test("the results of a quiet run report that it was quiet", () => {
  expect(printResultsSection(toTableData([toMeasuredCell("stock", "heavy", {})]), "", run)).toContain("A quiet run:");
});

function toMeasuredCell(
  contender: MeasuredCell["contender"],
  workload: MeasuredCell["workload"],
  cell: Partial<Cell<LoopPauses>>,
): MeasuredCell {
  const quietCell: Cell<LoopPauses> = {
    requests: 1_000,
    seconds: 5,
    latencyMs: { p50: 1, p99: 2 },
    wrongResponses: 0,
    cpuSeconds: { gateway: 5, subgraphs: 1, load: 1 },
    rssBytesMax: 100e6,
    otherCpuShares: [0, 0],
    cpuMsPerRequest: 5,
    requestsPerSecond: 200,
    fetchesPerRequest: 16,
    computedResponses: 0,
    preloadReport: undefined,
  };
  return { contender, workload, round: 1, cell: { ...quietCell, ...cell } };
}

function toTableData(measured: readonly MeasuredCell[]) {
  return {
    contenders: contenders.filter(({ name }) => measured.some(({ contender }) => contender === name)),
    workloads: workloads.filter(({ name }) => measured.some(({ workload }) => workload === name)),
    summaries: summarize(measured),
  };
}
