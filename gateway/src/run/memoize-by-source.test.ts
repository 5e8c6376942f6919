import { beforeEach, expect, test } from "vitest";
import { memoizeBySource, type MemoSource } from "./memoize-by-source.ts";

let answer: MemoSource;
let join: MemoSource;
const [rule, otherRule] = [{}, {}];

beforeEach(() => {
  answer = {};
  join = {};
});

test("a value for the same sources and key is computed once", () => {
  const first = memoizeBySource([answer, join], rule, () => ({}));
  expect(memoizeBySource([answer, join], rule, () => ({}))).toBe(first);
});

test.each([
  ["an equal object", () => [{}, join], rule],
  ["another object further on", () => [answer, {}], rule],
  ["fewer objects", () => [answer], rule],
  ["more objects", () => [answer, join, join], rule],
  ["another order", () => [join, answer], rule],
  ["another rule", () => [answer, join], otherRule],
] as const)("by %s it is made again", (_, from, by) => {
  const first = memoizeBySource([answer, join], rule, () => ({}));
  expect(memoizeBySource(from() as [MemoSource, ...MemoSource[]], by, () => ({}))).not.toBe(first);
  expect(memoizeBySource([answer, join], rule, () => ({}))).toBe(first);
});

test("a failed computation is not memoized", () => {
  const fail = () => {
    throw new Error("no");
  };
  expect(() => memoizeBySource([answer], rule, fail)).toThrow("no");
  expect(memoizeBySource([answer], rule, () => 1)).toBe(1);
});

test("undefined is memoized too", () => {
  memoizeBySource([answer], rule, () => undefined);
  expect(memoizeBySource([answer], rule, () => 1)).toBeUndefined();
});
