import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

const names = ["answers", "aborts"];

test("every check at full length, unless said otherwise", () => {
  const usual = {
    only: [],
    list: false,
    control: false,
    seconds: 30,
    aborts: 1_000,
    generations: 1_000,
    documents: 10_000,
    minutes: 30,
  };
  expect(readOptions([], names)).toEqual(usual);
  expect(readOptions(["--only", "aborts", "--only", "answers", "--aborts", "10", "--control"], names)).toEqual({
    ...usual,
    only: ["aborts", "answers"],
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
  ["answers"],
])("%s %s is not known", (...args) => {
  expect(readOptions(args, names)).toBeUndefined();
});
