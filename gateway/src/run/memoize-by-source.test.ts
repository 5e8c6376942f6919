import { beforeEach, expect, test } from "vitest";
import { derive, type Source } from "./memoize-by-source.ts";

let answer: Source;
let join: Source;
const [rule, otherRule] = [{}, {}];

beforeEach(() => {
  answer = {};
  join = {};
});

test("what follows from the same objects by the same rule is made once", () => {
  const first = derive([answer, join], rule, () => ({}));
  expect(derive([answer, join], rule, () => ({}))).toBe(first);
});

test.each([
  ["an equal object", () => [{}, join], rule],
  ["another object further on", () => [answer, {}], rule],
  ["fewer objects", () => [answer], rule],
  ["more objects", () => [answer, join, join], rule],
  ["another order", () => [join, answer], rule],
  ["another rule", () => [answer, join], otherRule],
] as const)("by %s it is made again", (_, from, by) => {
  const first = derive([answer, join], rule, () => ({}));
  expect(derive(from() as [Source, ...Source[]], by, () => ({}))).not.toBe(first);
  expect(derive([answer, join], rule, () => ({}))).toBe(first);
});

test("nothing is remembered of what failed", () => {
  const fail = () => {
    throw new Error("no");
  };
  expect(() => derive([answer], rule, fail)).toThrow("no");
  expect(derive([answer], rule, () => 1)).toBe(1);
});

test("that there is nothing is remembered too", () => {
  derive([answer], rule, () => undefined);
  expect(derive([answer], rule, () => 1)).toBeUndefined();
});
