import { expect, test } from "vitest";
import { createSampling } from "./sampling.ts";

const caller = (traceId: string, flags: string) => ({ traceId, flags, spanId: "00f067aa0ba902b7" });
const low = "4bf92f3577b34da6a3ce929d00000001";
const high = "4bf92f3577b34da6a3ce929dffffffff";

test("a parent-based sampler follows its caller, and samples by ratio without one", () => {
  const draws = [0.009, 0.01];
  const isTraced = createSampling({ sampler: "parentbased_traceidratio", ratio: 0.01 }, () => draws.shift() ?? 1);
  expect([caller(high, "01"), caller(low, "00"), undefined, undefined].map(isTraced)).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test("a sampler by ratio ignores the caller's decision", () => {
  const isTraced = createSampling({ sampler: "traceidratio", ratio: 0.5 });
  expect([caller(low, "00"), caller(high, "01")].map(isTraced)).toEqual([true, false]);
});

test("always_on samples all requests, always_off none", () => {
  const on = createSampling({ sampler: "always_on", ratio: 0 });
  const off = createSampling({ sampler: "always_off", ratio: 1 });
  const callers = [undefined, caller(low, "00"), caller(high, "01")];
  expect(callers.map(on)).toEqual([true, true, true]);
  expect(callers.map(off)).toEqual([false, false, false]);
});
