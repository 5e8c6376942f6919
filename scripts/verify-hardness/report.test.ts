import { expect, test } from "vitest";
import type { Finding } from "./check.ts";
import { type CheckOutcome, reportAll, reportFinding } from "./report.ts";

const holds: Finding = { claim: "no request fails", holds: true, measured: "9 requests" };
const fails: Finding = { claim: "RSS stays", holds: false, measured: "40 %" };

test("a finding is told with what was measured, as far as it can be read", () => {
  expect(told((print) => reportFinding(holds, print))).toEqual(["  ok    no request fails: 9 requests"]);
  expect(told((print) => reportFinding({ ...fails, measured: "x".repeat(9_999) }, print))[0]?.length).toBeLessThan(500);
});

test("one claim that does not hold fails its check, and all", () => {
  expect(verdict([outcome("swaps", holds), outcome("aborts", holds, fails)], false)).toEqual([
    false,
    "1 passed, 1 failed: aborts",
  ]);
  expect(verdict([outcome("swaps", holds)], false)).toEqual([true, "1 passed, 0 failed"]);
});

test("a control passes when each check that has to find something does", () => {
  expect(verdict([outcome("aborts", holds, fails)], true)).toEqual([true, "1 passed, 0 failed"]);
  expect(verdict([outcome("aborts", holds)], true)).toEqual([false, "0 passed, 1 failed: aborts"]);
  const swaps = outcome("swaps", holds);
  expect(verdict([{ ...swaps, check: { ...swaps.check, stockFails: false } }], true)[0]).toBe(true);
});

function outcome(name: string, ...findings: Finding[]): CheckOutcome {
  return { check: { name, claim: "", stockFails: true, run: () => Promise.resolve() }, findings };
}

function verdict(outcomes: readonly CheckOutcome[], control: boolean): readonly [boolean, string | undefined] {
  let passed = false;
  const lines = told((print) => (passed = reportAll(outcomes, control, print)));
  return [passed, lines.at(-1)];
}

function told(report: (print: (line: string) => void) => unknown): readonly string[] {
  const lines: string[] = [];
  report((line) => void lines.push(line));
  return lines;
}
