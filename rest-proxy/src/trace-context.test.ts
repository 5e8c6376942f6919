import { expect, test } from "vitest";
import { isTraceparent, newTraceparent } from "./trace-context.ts";

const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

test("a traceparent is four fields of small hex, with a trace and a parent that are not zero", () => {
  expect(isTraceparent(good)).toBe(true);
  expect(isTraceparent(newTraceparent())).toBe(true);
  expect(newTraceparent()).not.toBe(newTraceparent());
});

test.each([
  undefined,
  "",
  good.toUpperCase(),
  `ff${good.slice(2)}`,
  `${good}-extra`,
  good.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0".repeat(32)),
  good.replace("00f067aa0ba902b7", "0".repeat(16)),
])("%s is none", (value) => {
  expect(isTraceparent(value)).toBe(false);
});
