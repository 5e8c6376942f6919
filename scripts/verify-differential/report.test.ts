import { expect, test } from "vitest";
import { report } from "./report.ts";
import type { CaseOutcome } from "./run.ts";

const options = { operations: 100, seed: 7, case: "", control: false };
const equal: CaseOutcome = { name: "keys", comparedCount: 50, differences: [], tookMs: 1_500 };
const difference = { operation: { query: "{ a }" }, what: "data", actual: null, expected: 1 };
const different: CaseOutcome = { name: "requires", comparedCount: 1_050, differences: [difference], tookMs: 500 };

test("it passes without differences, and prints the number of operations", () => {
  const { passed, lines } = runReport([equal]);
  expect(passed).toBe(true);
  expect(lines.at(-1)).toBe("ok    1 cases, 50 operations through both paths, 0 differences, seed 7, 1.5 s");
});

test("it fails with a difference, and names the case", () => {
  const { passed, lines } = runReport([equal, different]);
  expect(passed).toBe(false);
  expect(lines.find((line) => line.startsWith("requires"))).toContain("different: data");
  expect(lines.at(-1)).toBe("FAIL  2 cases, 1,100 operations through both paths, 1 differences, seed 7, 2.0 s");
});

test("it fails without operations", () => {
  expect(runReport([]).passed).toBe(false);
});

test("the control passes only if it finds differences", () => {
  expect(runReport([equal], { ...options, control: true }).passed).toBe(false);
  expect(runReport([different], { ...options, control: true }).passed).toBe(true);
});

function runReport(outcomes: readonly CaseOutcome[], reportOptions = options) {
  const lines: string[] = [];
  const passed = report(outcomes, reportOptions, (line) => void lines.push(line));
  return { passed, lines };
}
