import { expect, test } from "vitest";
import { gatewayBenchmark } from "../gateway.ts";
import type { Cell } from "../measure/measure-cell.ts";
import { telemetryBenchmark } from "../telemetry.ts";
import { describeRun, replaceSection } from "./results-file.ts";
import { printReport } from "./tables.ts";
import { findRatio, printRatio } from "./summary.ts";

const target = { title: "stock ÷ ours", numerator: "stock", denominator: "ours-fast", min: { heavy: 20 } };

test("a ratio is the median of the ratios of the rounds in which both contenders were measured", () => {
  const stock = [10, 30, 20].map((cpuSeconds, index) => toCell("stock", { cpuSeconds, round: index + 1 }));
  const ours = [1, 1, 1].map((cpuSeconds, index) => toCell("ours-fast", { cpuSeconds, round: 3 - index }));
  expect(findRatio(target, "heavy", [...stock, ...ours])).toBeCloseTo(20);
  expect(findRatio(target, "heavy", [...stock, ...ours.slice(0, 1)])).toBeCloseTo(20);
  expect(findRatio(target, "heavy", stock)).toBeUndefined();
});

test("a target is compared with the exact ratio, not with the printed one", () => {
  const cells = [toCell("stock", { cpuSeconds: 10 }), toCell("ours-fast", { cpuSeconds: 0.501 })];
  expect(printRatio(target, "heavy", cells)).toBe("20× ✗ (≥ 20)");
});

test("a report contains the number of met targets and marks each", () => {
  const report = printReport(
    toRun([
      toCell("stock", { cpuSeconds: 10, rssBytesMax: 400e6 }),
      toCell("ours-fast", { cpuSeconds: 0.4, rssBytesMax: 401e6 }),
    ]),
  );
  expect(report).toContain("| stock ÷ Tributary, fast path | 25× ✓ (≥ 20) |");
  expect(report).toContain("| 401 ✗ |");
  expect(report).toContain("1 of 2 targets are met");
});

test("a result is the median of the rounds, a pause the longest of all rounds", () => {
  const cells = [
    toCell("ours-fast", { cpuSeconds: 3, preloadReport: { maxMs: 5, workMaxMs: 2 } }),
    toCell("ours-fast", { cpuSeconds: 100, preloadReport: { maxMs: 21.4, workMaxMs: 2 } }),
    toCell("ours-fast", { cpuSeconds: 4, preloadReport: { maxMs: 7, workMaxMs: 2 } }),
  ].map((cell) => ({ ...cell, workload: "cold", probeMs: { p99: 1, max: 2 } }));
  const report = printReport(toRun(cells));
  expect(report).toContain("| Tributary, fast path | 4000 |");
  expect(report).toContain("| Tributary, fast path | 21.4 ✗ (≤ 20) | 2.00 |");
});

test("the cost of telemetry is the median of the pairs' ratios", () => {
  const cells = [1.2, 1.05, 1.3].map((cpuSeconds, index) =>
    toCell("gateway", { cpuSeconds, round: index + 1, baseline: toCell("gateway", { cpuSeconds: 1 }) }),
  );
  expect(printReport({ ...telemetryBenchmark, cells, failures: [] })).toContain("1.20× ✗ | 1.05–1.30 |");
});

test("the results name noise and the cells that the load generator limited", () => {
  const cells = [toCell("stock", { otherCpuShare: 0.4 }), toCell("ours-fast", { loadCoreShare: 0.98 })];
  const run = { ...toRun(cells), command: "npm run bench", skipped: [] };
  expect(describeRun(run, "")).toContain("**A noisy run:** other processes took up to 40 %");
  expect(describeRun(run, "")).toContain("measure the load generator: ours-fast under heavy");
  expect(describeRun({ ...run, cells: [toCell("stock", {})] }, "")).toContain("A quiet run:");
});

test("a section of RESULTS.md is replaced in its position, and the others remain", () => {
  const whole = "# One\n\nold\n\n## Below\n\nold too\n\n# Two\n\nremains\n";
  expect(replaceSection(whole, "One", "new")).toBe("# One\n\nnew\n\n# Two\n\nremains\n");
  expect(replaceSection(whole, "Three", "more")).toBe(`${whole}\n# Three\n\nmore\n`);
});

function toRun(cells: readonly Cell[]) {
  return { ...gatewayBenchmark, cells, failures: [] };
}

/** Of a thousand requests in a quiet second. */
function toCell(contender: string, cell: Partial<Cell>): Cell {
  return {
    workload: "heavy",
    contender,
    round: 1,
    requests: 1_000,
    seconds: 1,
    latencyMs: { p50: 1, p99: 2 },
    cpuSeconds: 1,
    rssBytesMax: 100e6,
    otherCpuShare: 0,
    loadCoreShare: 0.5,
    fetches: 16_000,
    computed: 0,
    baseline: undefined,
    preloadReport: undefined,
    ...cell,
  };
}
