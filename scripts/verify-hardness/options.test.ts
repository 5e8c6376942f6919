import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

const names = ["responses", "aborts"];

test("by default every check runs at full length", () => {
  const defaults = {
    only: [],
    list: false,
    control: false,
    seconds: 30,
    aborts: 1_000,
    generations: 1_000,
    documents: 10_000,
    minutes: 30,
  };
  expect(readOptions([], names)).toEqual(defaults);
  expect(readOptions(["--only", "aborts", "--only", "responses", "--aborts", "10", "--control"], names)).toEqual({
    ...defaults,
    only: ["aborts", "responses"],
    control: true,
    aborts: 10,
  });
});

test.each([
  ["--only", "other"],
  ["--only"],
  ["--seconds", "0"],
  ["--aborts", "x"],
  ["--generations", "1000000"],
  ["--faster"],
  ["responses"],
])("%s %s is rejected", (...args) => {
  expect(readOptions(args, names)).toBeUndefined();
});
