import { expect, test } from "vitest";
import { shorten, shortenQuery, shortenSettings, toMs } from "./shorten.ts";

test("a duration is divided by 30", () => {
  expect(["500ms", "15s", "5m", "6h", "3d"].map((duration) => shorten(duration))).toEqual([
    "17ms",
    "500ms",
    "10000ms",
    "720000ms",
    "8640000ms",
  ]);
  expect(() => toMs("1h30m")).toThrow("not a duration");
});

test("only windows and offsets of a query are shortened", () => {
  expect(shortenQuery('a:rate5m < 0.5 * avg_over_time(a:rate15m[1d] offset 1h) > 5 and b{le="0.5"}[5m]')).toBe(
    'a:rate5m < 0.5 * avg_over_time(a:rate15m[2880000ms] offset 120000ms) > 5 and b{le="0.5"}[10000ms]',
  );
});

test("settings are shortened by name, at any depth", () => {
  const settings = { for: "1m", name: "1m", routes: [{ for: "30s", matchers: ["for"] }] };
  expect(shortenSettings(settings, ["for"])).toEqual({
    for: "2000ms",
    name: "1m",
    routes: [{ for: "1000ms", matchers: ["for"] }],
  });
});
