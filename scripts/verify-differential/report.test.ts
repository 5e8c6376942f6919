import { expect, test } from "vitest";
import { report } from "./report.ts";
import type { Outcome } from "./run.ts";

const options = { operations: 100, seed: 7, animal: "", control: false };
const equal: Outcome = { name: "keys", comparedCount: 50, differences: [], tookMs: 1_500 };
const difference = { operation: { query: "{ a }" }, what: "data", answer: null, wanted: 1 };
const different: Outcome = { name: "requires", comparedCount: 1_050, differences: [difference], tookMs: 500 };

test("it passes when nothing differs, and counts what was compared", () => {
  const { passed, lines } = tell([equal]);
  expect(passed).toBe(true);
  expect(lines.at(-1)).toBe("ok    1 animals, 50 operations through both lanes, 0 differences, seed 7, 1.5 s");
});

test("it fails when something differs, and names the animal", () => {
  const { passed, lines } = tell([equal, different]);
  expect(passed).toBe(false);
  expect(lines.find((line) => line.startsWith("requires"))).toContain("different: data");
  expect(lines.at(-1)).toBe("FAIL  2 animals, 1,100 operations through both lanes, 1 differences, seed 7, 2.0 s");
});

test("it fails when nothing was compared", () => {
  expect(tell([]).passed).toBe(false);
});

test("the control passes only when it finds differences", () => {
  expect(tell([equal], { ...options, control: true }).passed).toBe(false);
  expect(tell([different], { ...options, control: true }).passed).toBe(true);
});

function tell(outcomes: readonly Outcome[], about = options) {
  const lines: string[] = [];
  const passed = report(outcomes, about, (line) => void lines.push(line));
  return { passed, lines };
}
