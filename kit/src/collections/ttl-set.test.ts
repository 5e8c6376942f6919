import { expect, test } from "vitest";
import { createTtlSet } from "./ttl-set.ts";

test("a member expires after its time to live", () => {
  let nowMs = 0;
  const set = createTtlSet({ entriesMax: 10, nowMs: () => nowMs });
  set.add("a", 100);
  nowMs = 99;
  expect(set.has("a")).toBe(true);
  nowMs = 100;
  expect(set.has("a")).toBe(false);
});

test("the oldest member is evicted beyond the limit", () => {
  const set = createTtlSet({ entriesMax: 2, nowMs: () => 0 });
  for (const key of ["a", "b", "a", "c"]) set.add(key, 1);
  expect(["a", "b", "c"].map((key) => set.has(key))).toEqual([true, false, true]);
  set.delete("a");
  expect(set.has("a")).toBe(false);
});
