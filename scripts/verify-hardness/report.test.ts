import { expect, test } from "vitest";
import type { Finding } from "./check.ts";
import { type CheckOutcome, reportAll, reportFinding } from "./report.ts";

const passing: Finding = { claim: "no request fails", passed: true, measured: "9 requests" };
const failing: Finding = { claim: "RSS does not grow", passed: false, measured: "40 %" };

test("a finding is printed with its measurement, which is truncated if long", () => {
  expect(collectLines((print) => reportFinding(passing, print))).toEqual(["  ok    no request fails: 9 requests"]);
  expect(
    collectLines((print) => reportFinding({ ...failing, measured: "x".repeat(9_999) }, print))[0]?.length,
  ).toBeLessThan(500);
});

test("one failed claim fails its check and the whole run", () => {
  expect(runReport([outcome("swaps", passing), outcome("aborts", passing, failing)], false)).toEqual([
    false,
    "1 passed, 1 failed: aborts",
  ]);
  expect(runReport([outcome("swaps", passing)], false)).toEqual([true, "1 passed, 0 failed"]);
});

test("the control passes if each check that must find a fault does", () => {
  expect(runReport([outcome("aborts", passing, failing)], true)).toEqual([true, "1 passed, 0 failed"]);
  expect(runReport([outcome("aborts", passing)], true)).toEqual([false, "0 passed, 1 failed: aborts"]);
  const swaps = outcome("swaps", passing);
  expect(runReport([{ ...swaps, check: { ...swaps.check, apolloFails: false } }], true)[0]).toBe(true);
});

function outcome(name: string, ...findings: Finding[]): CheckOutcome {
  return { check: { name, purpose: "", apolloFails: true, run: () => Promise.resolve() }, findings, hasCrashed: false };
}

function runReport(outcomes: readonly CheckOutcome[], control: boolean): readonly [boolean, string | undefined] {
  let passed = false;
  const lines = collectLines((print) => (passed = reportAll(outcomes, control, print)));
  return [passed, lines.at(-1)];
}

function collectLines(report: (print: (line: string) => void) => unknown): readonly string[] {
  const lines: string[] = [];
  report((line) => void lines.push(line));
  return lines;
}
