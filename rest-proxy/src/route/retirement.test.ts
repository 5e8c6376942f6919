import { expect, test } from "vitest";
import { createRetirements, readDate, readRetirements } from "./retirement.ts";

const today = Date.UTC(2030, 0, 1, 12);

test.each([
  ["2030-01-31", Date.UTC(2030, 0, 31)],
  ["2030-01-31T23:59:59Z", Date.UTC(2030, 0, 31, 23, 59, 59)],
  ["-1d", Date.UTC(2029, 11, 31, 12)],
  ["+31d", Date.UTC(2030, 1, 1, 12)],
  ["+0d", today],
])("%s is a date", (text, expected) => {
  expect(readDate(text, today + 999)).toBe(expected);
});

test.each(["", "tomorrow", "1d", "+1", "+1.5d", "2030-13-01", "2030-02-30", "2030-1-1", "2030-01-01T00:00:00"])(
  "%j is no date",
  (text) => {
    expect(readDate(text, today)).toBeUndefined();
  },
);

test("a deprecated version has Deprecation in seconds and Sunset as a date", () => {
  const { headersOf } = createRetirements({
    retirements: [{ version: 1, deprecatedAtMs: today, sunsetAtMs: today + 86_400_000 }],
    nowMs: () => today,
  });
  expect(headersOf(1)).toEqual(["Deprecation", "@1893499200", "Sunset", "Wed, 02 Jan 2030 12:00:00 GMT"]);
  expect(headersOf(2)).toBeUndefined();
});

test("a version is available before its sunset and 410 from then on", () => {
  let nowMs = today;
  const { requireBeforeSunset } = createRetirements({
    retirements: [{ version: 1, deprecatedAtMs: undefined, sunsetAtMs: today + 1 }],
    nowMs: () => nowMs,
  });
  requireBeforeSunset(1);
  nowMs = today + 1;
  expect(() => requireBeforeSunset(1)).toThrow(expect.objectContaining({ code: "GONE" }));
  expect(() => requireBeforeSunset(1)).toThrow("Version 1 ended on 2030-01-01.");
  requireBeforeSunset(2);
});

test("lists of deprecation and sunset dates are joined by version", () => {
  const problems: string[] = [];
  const read = (deprecated: readonly string[], sunset: readonly string[]) =>
    readRetirements({ deprecated, sunset }, today, (problem) => problems.push(problem));
  expect(read(["1=-1d", "2=2031-01-01"], ["1=2030-06-01"])).toEqual([
    { version: 1, deprecatedAtMs: today - 86_400_000, sunsetAtMs: Date.UTC(2030, 5, 1) },
    { version: 2, deprecatedAtMs: Date.UTC(2031, 0, 1), sunsetAtMs: undefined },
  ]);
  expect(problems).toEqual([]);
  read(["1", "0=+1d", "v1=+1d", "1=soon", "3=+2d"], ["3=+1d"]);
  expect(problems).toHaveLength(5);
  expect(problems.at(-1)).toBe("the sunset of version 3 is before its deprecation");
});
