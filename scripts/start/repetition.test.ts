import { expect, test } from "vitest";
import { createRepetition } from "./repetition.ts";

test("of one kind so many lines are shown in a second, and it is said which is the last", () => {
  let nowMs = 0;
  const showing = createRepetition({ now: () => nowMs, perSecondMax: 3 });
  expect(Array.from({ length: 5 }, () => showing("down"))).toEqual(["show", "show", "show-last", "omit", "omit"]);
  expect(showing("another kind")).toBe("show");
  nowMs = 999;
  expect(showing("down")).toBe("omit");
  nowMs = 1_000;
  expect(showing("down")).toBe("show");
});

test("too many kinds are forgotten rather than kept", () => {
  const showing = createRepetition({ now: () => 0, perSecondMax: 1 });
  for (let kind = 0; kind < 1_001; kind++) expect(showing(String(kind))).toBe("show-last");
  expect(showing("0")).toBe("show-last");
});
