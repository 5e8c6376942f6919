import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("16 requests per second by default", () => {
  expect(readOptions([])).toEqual({ perSecond: 16, control: false });
  expect(readOptions(["--per-second", "8", "--control"])).toEqual({ perSecond: 8, control: true });
});

test.each([["--per-second"], ["--per-second", "7"], ["--per-second", "x"], ["--fast"], ["3"]])(
  "%s is rejected",
  (...args) => {
    expect(readOptions(args)).toBeUndefined();
  },
);
