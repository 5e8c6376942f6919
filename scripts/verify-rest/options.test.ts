import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("10,000 operations by default", () => {
  expect(readOptions([])).toEqual({ operations: 10_000, control: false });
  expect(readOptions(["--operations", "30", "--control"])).toEqual({ operations: 30, control: true });
});

test.each([
  ["--operations"],
  ["--operations", "0"],
  ["--operations", "1000001"],
  ["--operations", "x"],
  ["--faster"],
  ["3"],
])("%s is rejected", (...args) => {
  expect(readOptions(args)).toBeUndefined();
});
