import { expect, test } from "vitest";
import { report } from "./report.ts";
import type { RestTrafficCounts } from "./traffic.ts";

const good: RestTrafficCounts = { reads: 8, writes: 2, hits: 5, stale: [], failures: [] };
const run = (counts: Partial<RestTrafficCounts>, control = false) => {
  const lines: string[] = [];
  const isGood = report({ ...good, ...counts }, { operations: 10, control }, (line) => void lines.push(line));
  return { isGood, text: lines.join("\n") };
};

test("fresh reads, some of them from the cache, pass", () => {
  expect(run({}).isGood).toBe(true);
});

test.each([
  ["a stale read", { stale: ["GET /v1/posts/1: old"] }, "GET /v1/posts/1: old"],
  ["a failure", { failures: ["GET /v1/posts responded with 500"] }, "500"],
  ["a cache without hits", { hits: 0 }, "FAIL  some reads come from the cache"],
])("%s is reported and fails", (_, counts, line) => {
  const { isGood, text } = run(counts);
  expect(isGood).toBe(false);
  expect(text).toContain(line);
});

test("the control passes only if it finds stale reads", () => {
  expect(run({}, true).isGood).toBe(false);
  expect(run({ stale: ["old"] }, true).isGood).toBe(true);
});
