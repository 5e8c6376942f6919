import { expect, test } from "vitest";
import { report } from "./report.ts";
import type { Outcome } from "./run.ts";

const clean: Outcome = {
  confirmed: 1_234,
  lost: 0,
  doubled: 0,
  changed: 0,
  stockWrong: 0,
  recordsWrong: 0,
  sentAgain: 7,
  replayed: 2,
  serviceBackMs: [500, 300],
  postgresBackMs: [90, 100],
};
const usual = { rounds: 2, control: false };
const control = { rounds: 2, control: true };

test("a clean run passes, and says so last", () => {
  expect(told(clean, usual)).toEqual([true, "6 passed, 0 failed"]);
});

test.each(["lost", "doubled", "changed", "stockWrong", "recordsWrong"] as const)(
  "one %s order or row fails",
  (what) => {
    expect(told({ ...clean, [what]: 1 }, usual)).toEqual([false, "5 passed, 1 failed"]);
  },
);

test("a run that confirmed nothing proves nothing", () => {
  expect(told({ ...clean, confirmed: 0 }, usual)).toEqual([false, "5 passed, 1 failed"]);
});

test("the control passes only when it finds a loss", () => {
  expect(told(clean, control)).toEqual([false, "1 passed, 1 failed"]);
  expect(told({ ...clean, lost: 9 }, control)).toEqual([true, "2 passed, 0 failed"]);
});

function told(outcome: Outcome, options: typeof usual): readonly [boolean, string | undefined] {
  const lines: string[] = [];
  return [report(outcome, options, (line) => lines.push(line)), lines.at(-1)];
}
