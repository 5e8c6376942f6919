import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("by default the whole suite runs against the cache", () => {
  expect(readOptions([])).toEqual({ control: false, only: undefined });
  expect(readOptions(["--only", "stale-503", "--control"])).toEqual({ control: true, only: "stale-503" });
});

test.each([["--only"], ["--only", ""], ["--faster"], ["stale-503"]])("%s %s is rejected", (...args) => {
  expect(readOptions(args.filter((arg) => arg !== undefined))).toBeUndefined();
});
