import { expect, test } from "vitest";
import { report } from "./report.ts";
import type { Counts } from "./traffic.ts";

const good: Counts = { reads: 8, writes: 2, hits: 5, stale: [], failures: [] };
const run = (counts: Partial<Counts>, control = false) => {
  const lines: string[] = [];
  const isGood = report({ ...good, ...counts }, { operations: 10, control }, (line) => void lines.push(line));
  return { isGood, text: lines.join("\n") };
};

test("reads that are fresh, some of them kept, are what is wanted", () => {
  expect(run({}).isGood).toBe(true);
});

test.each([
  ["a stale read", { stale: ["GET /v1/posts/1: old"] }, "GET /v1/posts/1: old"],
  ["a failure", { failures: ["GET /v1/posts was answered with 500"] }, "500"],
  ["a cache that answers nothing", { hits: 0 }, "FAIL  some reads come from the cache"],
])("%s is told and fails", (_, counts, told) => {
  const { isGood, text } = run(counts);
  expect(isGood).toBe(false);
  expect(text).toContain(told);
});

test("the control has to find stale reads", () => {
  expect(run({}, true).isGood).toBe(false);
  expect(run({ stale: ["old"] }, true).isGood).toBe(true);
});
