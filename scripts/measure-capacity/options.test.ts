import { expect, test } from "vitest";
import { readOptions } from "./options.ts";
import { workloadNames } from "./workloads.ts";

test("without options every workload is measured, and no file is written", () => {
  expect(readOptions([])).toEqual({ p99MsMax: 100, seconds: 5, only: workloadNames, write: false });
});

test("options select workloads, duration and latency limit", () => {
  const args = ["--p99-ms", "50", "--seconds", "30", "--only", "posts,rest-cached", "--write"];
  expect(readOptions(args)).toEqual({ p99MsMax: 50, seconds: 30, only: ["posts", "rest-cached"], write: true });
});

test.each([["--p99-ms", "0"], ["--seconds", "601"], ["--only", "postz"], ["--only", ""], ["--what"], ["posts"]])(
  "%s %s is rejected",
  (...args) => {
    expect(readOptions(args.filter((arg) => arg !== undefined))).toBeUndefined();
  },
);
