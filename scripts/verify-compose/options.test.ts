import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("twenty-four a second, unless said otherwise", () => {
  expect(readOptions([])).toEqual({ perSecond: 24, control: false });
  expect(readOptions(["--per-second", "8", "--control"])).toEqual({ perSecond: 8, control: true });
});

test.each([["--per-second"], ["--per-second", "7"], ["--per-second", "x"], ["--fast"], ["3"]])(
  "%s is not known",
  (...args) => {
    expect(readOptions(args)).toBeUndefined();
  },
);
