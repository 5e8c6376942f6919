import { expect, test } from "vitest";
import { median, quantile } from "./quantile.ts";

test("the median is the middle number after sorting by size", () => {
  expect(median([10, 9, 100])).toBe(10);
});

test("the median of an even count is the mean of the two middle numbers", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test("a quantile is interpolated between the two nearest numbers", () => {
  const numbers = Array.from({ length: 101 }, (_, i) => i);
  expect(quantile(numbers, 0.99)).toBe(99);
  expect(quantile([0, 10], 0.25)).toBe(2.5);
});

test("the median of an empty list is a RangeError", () => {
  expect(() => median([])).toThrow(RangeError);
});
