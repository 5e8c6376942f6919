import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("20 rounds without the control by default", () => {
  expect(readOptions([])).toEqual({ rounds: 20, control: false });
  expect(readOptions(["--rounds", "3", "--control"])).toEqual({ rounds: 3, control: true });
});

test.each([["--rounds"], ["--rounds", "0"], ["--rounds", "1001"], ["--rounds", "x"], ["--faster"], ["3"]])(
  "%s is rejected",
  (...args) => {
    expect(readOptions(args)).toBeUndefined();
  },
);
