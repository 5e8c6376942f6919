import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Log, silentLog } from "../process/log.ts";
import { createFailureLog } from "./failure-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Line {
  readonly level: string;
  readonly observation?: string;
  readonly replica?: string;
  readonly reason?: string;
  readonly count?: number;
  readonly [field: string]: unknown;
}

function setUp() {
  const lines: Line[] = [];
  const write = (level: string) => (fields: object) => void lines.push({ level, ...fields });
  const log: Log = { ...silentLog, warn: write("warn"), info: write("info") };
  const failures = createFailureLog(log);
  const fail = (replica = "http://users:4001/ (10.0.0.7)", reason = "SUBGRAPH_UNAVAILABLE") =>
    failures.report(
      { service: "users", replica, reason },
      { requestId: "r-1", err: new Error("refused") },
      "it failed",
    );
  return { lines, failures, fail };
}

test("five minutes of failures at 4 per second are one full line and a count every 10 s, without stacks", () => {
  const { lines, fail } = setUp();
  for (let i = 0; i < 1_200; i++) {
    fail();
    vi.advanceTimersByTime(250);
  }
  expect(lines).toHaveLength(31);
  expect(lines.filter((line) => "err" in line)).toHaveLength(1);
  const about = { level: "warn", service: "users", replica: "http://users:4001/ (10.0.0.7)" };
  expect(lines[0]).toMatchObject({ ...about, reason: "SUBGRAPH_UNAVAILABLE", requestId: "r-1" });
  expect(lines[1]).toEqual({ ...about, observation: "failures-counted", reason: "SUBGRAPH_UNAVAILABLE", count: 39 });
  expect(lines.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(1_200);
});

test("each replica and each reason has a first line and counts of its own", () => {
  const { lines, fail } = setUp();
  for (const replica of ["a", "b"])
    for (const reason of ["refused", "timeout"]) for (let i = 0; i < 3; i++) fail(replica, reason);
  expect(lines.map(({ replica, reason }) => `${replica} ${reason}`)).toHaveLength(4);
  vi.advanceTimersByTime(10_000);
  expect(lines.slice(4).map(({ replica, reason, count }) => `${replica} ${reason} ${count}`)).toEqual([
    "a refused 2",
    "a timeout 2",
    "b refused 2",
    "b timeout 2",
  ]);
});

test("a service that has not failed for 30 s has one line with the duration and the number of failures", () => {
  const { lines, fail } = setUp();
  fail();
  vi.advanceTimersByTime(4_000);
  fail();
  vi.advanceTimersByTime(100_000);
  expect(lines.slice(2)).toEqual([
    { level: "info", observation: "failures-ended", service: "users", count: 2, durationMs: 4_000 },
  ]);
  expect(vi.getTimerCount()).toBe(0);
  fail();
  expect(lines.at(-1)).toMatchObject({ requestId: "r-1" });
});

test("replicas with ever new addresses are not more than 100 lines", () => {
  const { lines, fail } = setUp();
  for (let i = 0; i < 1_000; i++) fail(`10.0.${i}.1`);
  expect(lines.length).toBeLessThanOrEqual(101);
  vi.advanceTimersByTime(10_000);
  expect(lines.at(-1)).toMatchObject({ replica: "other", count: 899 });
});

test("a replica that fails now and then does not keep the groups of an earlier outage", () => {
  const { lines, fail } = setUp();
  for (let i = 0; i < 100; i++) fail(`10.0.${i}.1`);
  for (let i = 0; i < 4; i++) {
    vi.advanceTimersByTime(25_000);
    fail("10.0.0.1");
  }
  for (const replica of ["10.1.0.1", "10.1.1.1"]) {
    fail(replica);
    expect(lines.at(-1)).toMatchObject({ replica, requestId: "r-1" });
  }
  expect(lines.filter(({ observation }) => observation === "failures-ended")).toEqual([]);
  vi.advanceTimersByTime(40_000);
  expect(lines.at(-1)).toMatchObject({ observation: "failures-ended", count: 106, durationMs: 100_000 });
});

test("a failure after close is logged whole, and starts no timer", () => {
  const { lines, failures, fail } = setUp();
  fail();
  failures.close();
  fail();
  fail();
  expect(lines.map(({ requestId }) => requestId)).toEqual(["r-1", "r-1", "r-1"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("counts that are not logged yet are logged when it is closed", () => {
  const { lines, failures, fail } = setUp();
  fail();
  fail();
  failures.close();
  expect(lines.at(-1)).toMatchObject({ observation: "failures-counted", count: 1 });
  expect(vi.getTimerCount()).toBe(0);
});
