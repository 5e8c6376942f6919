import { expect, test } from "vitest";
import { createRejectedOperations } from "./rejected-operations.ts";

test("an operation is rejected until its time to live is over", () => {
  let nowMs = 0;
  const rejected = createRejectedOperations({ entriesMax: 10, ttlMsMin: 1_000, ttlMsMax: 3_000, clock: () => nowMs });
  expect(rejected.has("{ a }")).toBe(false);
  rejected.add("{ a }");
  nowMs = 999;
  expect(rejected.has("{ a }")).toBe(true);
  expect(rejected.has("{ b }")).toBe(false);
  nowMs = 1_000;
  expect(rejected.has("{ a }")).toBe(false);
});

test("each further rejection lasts twice as long, up to a limit", () => {
  let nowMs = 0;
  const rejected = createRejectedOperations({ entriesMax: 10, ttlMsMin: 1_000, ttlMsMax: 3_000, clock: () => nowMs });
  const times = [1, 2, 3, 4].map(() => {
    rejected.add("{ a }");
    const startedMs = nowMs;
    while (rejected.has("{ a }")) nowMs += 500;
    return nowMs - startedMs;
  });
  expect(times).toEqual([1_000, 2_000, 3_000, 3_000]);
});

test("the oldest entries are evicted", () => {
  const rejected = createRejectedOperations({ entriesMax: 2, ttlMsMin: 1_000, ttlMsMax: 3_000, clock: () => 0 });
  for (const operation of ["a", "b", "a", "c"]) rejected.add(operation);
  expect(["a", "b", "c"].map(rejected.has)).toEqual([true, false, true]);
});
