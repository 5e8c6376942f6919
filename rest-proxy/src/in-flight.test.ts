import { expect, test } from "vitest";
import { createInFlightLimit } from "./in-flight.ts";

test("each key has its own places, and one that is left is free again", () => {
  const limit = createInFlightLimit({ perKeyMax: 1 });
  const leave = limit.enter("a");
  expect(leave).toBeDefined();
  expect(limit.enter("a")).toBeUndefined();
  expect(limit.enter("b")).toBeDefined();
  leave?.();
  expect(limit.enter("a")).toBeDefined();
});

test("who leaves twice frees one place", () => {
  const limit = createInFlightLimit({ perKeyMax: 2 });
  const leave = limit.enter("a");
  limit.enter("a");
  leave?.();
  leave?.();
  expect(limit.enter("a")).toBeDefined();
  expect(limit.enter("a")).toBeUndefined();
});
