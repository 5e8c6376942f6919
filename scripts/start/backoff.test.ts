import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

test("each failure doubles the wait, from 250 ms to 8 s", () => {
  expect([1, 2, 3, 4, 5, 6, 7, 2_000].map(backoffMs)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
});
