import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("the whole suite runs against the cache, unless said otherwise", () => {
  expect(readOptions([])).toEqual({ control: false, only: undefined });
  expect(readOptions(["--only", "stale-503", "--control"])).toEqual({ control: true, only: "stale-503" });
});

test.each([["--only"], ["--only", ""], ["--faster"], ["stale-503"]])("%s %s is not known", (...args) => {
  expect(readOptions(args.filter((one) => one !== undefined))).toBeUndefined();
});
