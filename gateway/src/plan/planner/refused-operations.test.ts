import { expect, test } from "vitest";
import { createRefusedOperations } from "./refused-operations.ts";

test("an operation is refused until its time is over", () => {
  let nowMs = 0;
  const refused = createRefusedOperations({ entriesMax: 10, ttlMsMin: 1_000, ttlMsMax: 3_000, clock: () => nowMs });
  expect(refused.has("{ a }")).toBe(false);
  refused.add("{ a }");
  nowMs = 999;
  expect(refused.has("{ a }")).toBe(true);
  expect(refused.has("{ b }")).toBe(false);
  nowMs = 1_000;
  expect(refused.has("{ a }")).toBe(false);
});

test("each further time it is refused for twice as long, up to a bound", () => {
  let nowMs = 0;
  const refused = createRefusedOperations({ entriesMax: 10, ttlMsMin: 1_000, ttlMsMax: 3_000, clock: () => nowMs });
  const times = [1, 2, 3, 4].map(() => {
    refused.add("{ a }");
    const begunMs = nowMs;
    while (refused.has("{ a }")) nowMs += 500;
    return nowMs - begunMs;
  });
  expect(times).toEqual([1_000, 2_000, 3_000, 3_000]);
});

test("only so many are remembered, the latest ones", () => {
  const refused = createRefusedOperations({ entriesMax: 2, ttlMsMin: 1_000, ttlMsMax: 3_000, clock: () => 0 });
  for (const operation of ["a", "b", "a", "c"]) refused.add(operation);
  expect(["a", "b", "c"].map(refused.has)).toEqual([true, false, true]);
});
