import { expect, test } from "vitest";
import { ageSeconds, ageValueSeconds, bornAtMs, heuristicSeconds } from "./age.ts";

const cameMs = Date.UTC(2026, 10, 21);
const at = (seconds: number) => new Date(cameMs + seconds * 1_000).toUTCString();

test.each([
  [["Age", "7"], 7],
  [["Age", "7, 0"], 7],
  [["Age", "0", "Age", "7"], 0],
  [["Age", "-7"], 0],
  [["Age", "7.5"], 0],
  [["Age", "7;a=b"], 0],
  [["Age", "99999999999"], 2 ** 31],
  [[], 0],
])("%j is an age of %s seconds (RFC 9111, 5.1)", (headers, seconds) => {
  expect(ageValueSeconds(headers)).toBe(seconds);
});

test.each([
  { headers: [], wayMs: 0, age: 0 },
  { headers: ["Date", at(-5)], wayMs: 0, age: 5 },
  { headers: ["Date", at(5)], wayMs: 0, age: 0 },
  { headers: ["Age", "7", "Date", at(0)], wayMs: 0, age: 7 },
  { headers: ["Age", "7", "Date", at(-9)], wayMs: 0, age: 9 },
  { headers: ["Age", "7", "Date", at(-8)], wayMs: 2_000, age: 9 },
])("it came $age seconds old with $headers after $wayMs ms (RFC 9111, 4.2.3)", ({ headers, wayMs, age }) => {
  const born = bornAtMs(headers, { askedMs: cameMs - wayMs, cameMs });
  expect(ageSeconds(born, cameMs)).toBe(age);
  expect(ageSeconds(born, cameMs + 3_999)).toBe(age + 3);
});

test("an age is never negative, though a clock be set back", () => {
  expect(ageSeconds(cameMs, cameMs - 5_000)).toBe(0);
});

test.each([
  { status: 200, isPublic: false, changed: -1_000, seconds: 100 },
  { status: 404, isPublic: false, changed: -1_000, seconds: 100 },
  { status: 201, isPublic: false, changed: -1_000, seconds: 0 },
  { status: 201, isPublic: true, changed: -1_000, seconds: 100 },
  { status: 200, isPublic: false, changed: -10_000_000, seconds: 3_600 },
  { status: 200, isPublic: false, changed: 10, seconds: 0 },
])("a $status that changed $changed s ago is believed for $seconds s (RFC 9111, 4.2.2)", (o) => {
  const headers = ["Last-Modified", at(o.changed), "Date", at(0)];
  expect(heuristicSeconds({ ...o, headers }, { cameMs, secondsMax: 3_600 })).toBe(o.seconds);
});
