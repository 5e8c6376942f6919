import { expect, test } from "vitest";
import { readOptions } from "./options.ts";
import { workloadNames } from "./workloads.ts";

test("without options everything is measured, and nothing written", () => {
  expect(readOptions([])).toEqual({ p99MsMax: 100, seconds: 5, only: workloadNames, write: false });
});

test("options say what, for how long and within what", () => {
  const args = ["--p99-ms", "50", "--seconds", "30", "--only", "posts,rest-copies", "--write"];
  expect(readOptions(args)).toEqual({ p99MsMax: 50, seconds: 30, only: ["posts", "rest-copies"], write: true });
});

test.each([["--p99-ms", "0"], ["--seconds", "601"], ["--only", "postz"], ["--only", ""], ["--what"], ["posts"]])(
  "%s %s is not known",
  (...args) => {
    expect(readOptions(args.filter((arg) => arg !== undefined))).toBeUndefined();
  },
);
