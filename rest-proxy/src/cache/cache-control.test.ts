import { expect, test } from "vitest";
import { parseCacheControl, secondsOf } from "./cache-control.ts";

test.each([
  ["max-age=60, public", { "max-age": "60", public: true }],
  ["MAX-AGE=60", { "max-age": "60" }],
  ['max-age="60"', { "max-age": "60" }],
  ['private="a, no-store", max-age=1', { private: "a, no-store", "max-age": "1" }],
  ['x="max-age=3600", max-age=1', { x: "max-age=3600", "max-age": "1" }],
  ["max-age=60, max-age=10", { "max-age": "60" }],
  [",, public ,", { public: true }],
  ['x="open, no-store', { "no-store": true }],
  ["max-age =60, no-store", { "no-store": true }],
  ["max-age= 60, public", { public: true }],
  ["a b, public", { public: true }],
  [undefined, {}],
])("%j is read as %j (RFC 9111, 5.2)", (text, directives) => {
  expect(Object.fromEntries(parseCacheControl(text))).toEqual(directives);
});

test.each([
  ["max-age=60", 60],
  ["max-age=0060", 60],
  ["max-age=99999999999", 2 ** 31],
  ["max-age=-1", 0],
  ["max-age=1.5", 0],
  ["max-age='60'", 0],
  ["max-age", 0],
  ["public", undefined],
])("%s is %s seconds (RFC 9111, 1.2.2 and 4.2.1)", (text, seconds) => {
  expect(secondsOf(parseCacheControl(text), "max-age")).toBe(seconds);
});
