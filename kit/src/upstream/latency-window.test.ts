import { expect, test } from "vitest";
import { createLatencyWindow } from "./latency-window.ts";

function setUp() {
  const clock = { nowMs: 0 };
  return { clock, latencies: createLatencyWindow(() => clock.nowMs) };
}

test("without an attempt the percentile is 0", () => {
  expect(setUp().latencies.p99Ms()).toBe(0);
});

test("of the latencies 1 to 100 ms the 99th percentile is 99 ms", () => {
  const { latencies } = setUp();
  for (let ms = 100; ms >= 1; ms--) latencies.record(ms);
  expect(latencies.p99Ms()).toBe(99);
});

test("only the last 256 latencies count", () => {
  const { latencies } = setUp();
  for (let i = 0; i < 100; i++) latencies.record(9_000);
  for (let i = 0; i < 256; i++) latencies.record(7);
  expect(latencies.p99Ms()).toBe(7);
});

test("the percentile is computed at most once a second", () => {
  const { clock, latencies } = setUp();
  latencies.record(5);
  expect(latencies.p99Ms()).toBe(5);
  latencies.record(800);
  clock.nowMs = 999;
  expect(latencies.p99Ms()).toBe(5);
  clock.nowMs = 1_000;
  expect(latencies.p99Ms()).toBe(800);
});
