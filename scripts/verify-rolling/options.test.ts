import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("40 requests per second by default", () => {
  expect(readOptions([])).toEqual({ perSecond: 40, control: false, logs: undefined });
  expect(readOptions(["--per-second", "8", "--control", "--logs", "a"])).toEqual({
    perSecond: 8,
    control: true,
    logs: "a",
  });
});

test.each([
  ["--per-second"],
  ["--per-second", "7"],
  ["--per-second", "1001"],
  ["--per-second", "x"],
  ["--fast"],
  ["3"],
])("%s is rejected", (...args) => {
  expect(readOptions(args)).toBeUndefined();
});
