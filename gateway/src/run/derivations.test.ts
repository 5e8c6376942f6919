import { expect, test } from "vitest";
import { createDerivations } from "./derivations.ts";

const [answer, join, rule, otherRule] = [{ a: 1 }, { b: 1 }, {}, {}];

test("what follows from the same objects by the same rule is made once", () => {
  const { derive } = createDerivations();
  const first = derive([answer, join], rule, () => ({}));
  expect(derive([answer, join], rule, () => ({}))).toBe(first);
});

test.each([
  ["an equal object", [{ a: 1 }, join], rule],
  ["another object further on", [answer, { b: 1 }], rule],
  ["fewer objects", [answer], rule],
  ["more objects", [answer, join, join], rule],
  ["another order", [join, answer], rule],
  ["another rule", [answer, join], otherRule],
] as const)("by %s it is made again", (_, from, by) => {
  const { derive } = createDerivations();
  const first = derive([answer, join], rule, () => ({}));
  expect(derive([...from] as [object, ...object[]], by, () => ({}))).not.toBe(first);
  expect(derive([answer, join], rule, () => ({}))).toBe(first);
});

test("nothing is remembered of what failed", () => {
  const { derive } = createDerivations();
  const fail = () => {
    throw new Error("no");
  };
  expect(() => derive([answer], rule, fail)).toThrow("no");
  expect(derive([answer], rule, () => 1)).toBe(1);
});

test("that there is nothing is remembered too", () => {
  const { derive } = createDerivations();
  derive([answer], rule, () => undefined);
  expect(derive([answer], rule, () => 1)).toBeUndefined();
});
