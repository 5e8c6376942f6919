import { expect, test } from "vitest";
import { contenders } from "../contenders/contenders.ts";
import type { LoopPauses } from "../inside/loop-pauses.ts";
import type { Measured } from "../run/compare.ts";
import type { Cell } from "../run/measure-cell.ts";
import { workloads } from "../workloads/workloads.ts";
import { printReport } from "./report.ts";
import { printResults } from "./results.ts";
import { summarize } from "./summary.ts";

const run = { command: "npm run bench", rounds: 3, windowMs: 5_000, warmUpMs: 4_000, skipped: [] };

test("a report says how many targets are met, and names each that is not", () => {
  const report = printReport(
    toTabled([
      of("stock", "heavy", { cpuMsPerRequest: 10, rssBytesMax: 400e6 }),
      of("ours-fast", "heavy", { cpuMsPerRequest: 0.4, rssBytesMax: 401e6 }),
    ]),
    [],
  );
  expect(report).toContain("| ours, fast lane ÷ stock | 25× ✓ (≥ 20) |");
  expect(report).toContain(
    "1 of 2 targets are met. Missed:\n\n- memory of ours, fast lane, heavy: 401 MB, stock 400 MB",
  );
});

test("a figure is the median of its rounds, a pause the longest of them", () => {
  const rounds = [
    { cpuMsPerRequest: 3, told: { maxMs: 5, p99Ms: 1, workMaxMs: 2 } },
    { cpuMsPerRequest: 100, told: { maxMs: 21.4, p99Ms: 1, workMaxMs: 2 } },
    { cpuMsPerRequest: 4, told: { maxMs: 7, p99Ms: 1, workMaxMs: 2 } },
  ];
  const report = printReport(toTabled(rounds.map((cell) => of("ours-fast", "cold", cell))), []);
  expect(report).toContain("| ours, fast lane | 4.00 |");
  expect(report).toContain("| ours, fast lane | 21.4 ✗ (≤ 20) | 2.00 |");
});

test("what failed is named, with its reason", () => {
  const report = printReport(toTabled([of("stock", "heavy", {})]), [
    { workload: "heavy", contender: "mercurius", problem: "a wrong answer" },
  ]);
  expect(report).toContain("- **mercurius, heavy**: a wrong answer");
});

test("results of a disturbed run say so, and whose speed is the load's", () => {
  const tabled = toTabled([
    of("stock", "heavy", { neighbours: [0.4, 0] }),
    of("ours-fast", "heavy", { cpuSeconds: { gateway: 1, subgraphs: 3, load: 1.9 } }),
  ]);
  const results = printResults(tabled, "", run);
  expect(results).toContain("**A noisy run:** other processes took up to 40 %");
  expect(results).toContain("with: ours-fast under heavy");
});

test("results of a quiet run say that", () => {
  expect(printResults(toTabled([of("stock", "heavy", {})]), "", run)).toContain("A quiet run:");
});

function of(
  contender: Measured["contender"],
  workload: Measured["workload"],
  cell: Partial<Cell<LoopPauses>>,
): Measured {
  const calm: Cell<LoopPauses> = {
    requests: 1_000,
    seconds: 5,
    latencyMs: { p50: 1, p99: 2 },
    wrongAnswers: 0,
    cpuSeconds: { gateway: 5, subgraphs: 1, load: 1 },
    rssBytesMax: 100e6,
    neighbours: [0, 0],
    cpuMsPerRequest: 5,
    requestsPerSecond: 200,
    fetchesPerRequest: 16,
    computed: 0,
    told: undefined,
  };
  return { contender, workload, round: 1, cell: { ...calm, ...cell } };
}

function toTabled(measured: readonly Measured[]) {
  return {
    contenders: contenders.filter(({ name }) => measured.some(({ contender }) => contender === name)),
    workloads: workloads.filter(({ name }) => measured.some(({ workload }) => workload === name)),
    summaries: summarize(measured),
  };
}
