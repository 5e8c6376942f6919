import { expect, test } from "vitest";
import { readClientDeadline, readDeadline, toServiceDeadline } from "./deadline.ts";

test("a request without a deadline, or with an invalid one, has no time limit", () => {
  for (const text of [undefined, "", "soon", "-1", "1.5", "1e3", " 1", "9999999999"]) {
    expect(readDeadline(text)).toBe(Infinity);
    expect(readClientDeadline(text, 5)).toBe(Infinity);
  }
});

test("a client gets at least 50 ms", () => {
  expect(["0", "49", "50", "2000"].map((text) => readClientDeadline(text, 5))).toEqual([55, 55, 55, 2_005]);
});

test("a service gets 5 % less than its caller has, at least 5 ms less", () => {
  expect([10_000, 1_000.5, 100, 20, 5, 0, -3].map(toServiceDeadline)).toEqual([9_500, 950, 95, 15, 0, -5, -8]);
});
