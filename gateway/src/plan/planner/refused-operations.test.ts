import { expect, test } from "vitest";
import { createRefusedOperations } from "./refused-operations.ts";

test("an operation is refused until its time is over", () => {
  let nowMs = 0;
  const refused = createRefusedOperations({ entriesMax: 10, ttlMs: 1_000, clock: () => nowMs });
  expect(refused.has("{ a }")).toBe(false);
  refused.add("{ a }");
  nowMs = 999;
  expect(refused.has("{ a }")).toBe(true);
  expect(refused.has("{ b }")).toBe(false);
  nowMs = 1_000;
  expect(refused.has("{ a }")).toBe(false);
});

test("only so many are remembered, the latest ones", () => {
  const refused = createRefusedOperations({ entriesMax: 2, ttlMs: 1_000, clock: () => 0 });
  for (const operation of ["a", "b", "a", "c"]) refused.add(operation);
  expect(["a", "b", "c"].map(refused.has)).toEqual([true, false, true]);
});
