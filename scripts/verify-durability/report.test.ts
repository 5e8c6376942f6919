import { expect, test } from "vitest";
import { report } from "./report.ts";
import type { DurabilityOutcome } from "./run.ts";

const clean: DurabilityOutcome = {
  confirmed: 1_234,
  lost: 0,
  duplicated: 0,
  changed: 0,
  stockWrong: 0,
  recordsWrong: 0,
  retries: 7,
  replayed: 2,
  serviceRestartMs: [500, 300],
  postgresRestartMs: [90, 100],
};
const defaults = { rounds: 2, control: false };
const control = { rounds: 2, control: true };

test("a clean run passes, and the last line contains the counts", () => {
  expect(runReport(clean, defaults)).toEqual([true, "6 passed, 0 failed"]);
});

test.each(["lost", "duplicated", "changed", "stockWrong", "recordsWrong"] as const)(
  "one %s order or row fails",
  (what) => {
    expect(runReport({ ...clean, [what]: 1 }, defaults)).toEqual([false, "5 passed, 1 failed"]);
  },
);

test("a run without confirmed orders fails", () => {
  expect(runReport({ ...clean, confirmed: 0 }, defaults)).toEqual([false, "5 passed, 1 failed"]);
});

test("the control passes only if it finds a lost order", () => {
  expect(runReport(clean, control)).toEqual([false, "1 passed, 1 failed"]);
  expect(runReport({ ...clean, lost: 9 }, control)).toEqual([true, "2 passed, 0 failed"]);
});

function runReport(outcome: DurabilityOutcome, options: typeof defaults): readonly [boolean, string | undefined] {
  const lines: string[] = [];
  return [report(outcome, options, (line) => lines.push(line)), lines.at(-1)];
}
