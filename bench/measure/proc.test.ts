import { expect, test } from "vitest";
import { parseBusySecondsOfCores, parseProcessCpuSeconds, parseRssBytes } from "./proc.ts";

test("a process's CPU time is its user and system time, even if its name contains spaces and parentheses", () => {
  const stat = "4242 (node (main) 1 2 3) S 1 4242 4242 0 -1 4194560 9000 0 3 0 1234 66 7 8 20 0 11 0 500 900000 2000";
  expect(parseProcessCpuSeconds(stat)).toBe(13);
});

test("resident memory is counted in pages", () => {
  expect(parseRssBytes("250000 1000 800 20 0 5000 0")).toBe(4_096_000);
});

test("the busy time of a core excludes idle, iowait and steal time", () => {
  const stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 10 50 7000 300 5 35 900 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\nintr 1\n";
  expect(parseBusySecondsOfCores(stat)).toEqual([2, 0.01]);
});
