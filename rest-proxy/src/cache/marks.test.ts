import { expect, test } from "vitest";
import { createMarks } from "./marks.ts";

test("a mark lasts for its time and no longer", () => {
  let nowMs = 0;
  const marks = createMarks({ marksMax: 10, nowMs: () => nowMs });
  marks.set("a", 100);
  nowMs = 99;
  expect(marks.has("a")).toBe(true);
  nowMs = 100;
  expect(marks.has("a")).toBe(false);
});

test("the oldest mark makes room", () => {
  const marks = createMarks({ marksMax: 2, nowMs: () => 0 });
  for (const key of ["a", "b", "a", "c"]) marks.set(key, 1);
  expect(["a", "b", "c"].map((key) => marks.has(key))).toEqual([true, false, true]);
  marks.delete("a");
  expect(marks.has("a")).toBe(false);
});
