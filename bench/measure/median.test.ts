import { expect, test } from "vitest";
import { median, quantile } from "./median.ts";

test("the median is the middle one, sorted by size", () => {
  expect(median([10, 9, 100])).toBe(10);
});

test("the median of an even number lies between the two in the middle", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test("a quantile lies between its neighbours", () => {
  const numbers = Array.from({ length: 101 }, (_, i) => i);
  expect(quantile(numbers, 0.99)).toBe(99);
  expect(quantile([0, 10], 0.25)).toBe(2.5);
});

test("nothing has no median", () => {
  expect(() => median([])).toThrow(RangeError);
});
