import { expect, test } from "vitest";
import { parseHttpDate } from "./http-date.ts";

const nowMs = Date.UTC(2026, 10, 21);

test.each([
  ["Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
  ["Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
  ["Thursday, 18-Aug-50 02:01:18 GMT", "2050-08-18T02:01:18.000Z"],
  ["Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37.000Z"],
  ["SUN, 06 nOV 1994 08:49:37 gMT", "1994-11-06T08:49:37.000Z"],
])("%s is an HTTP-date, in any case (RFC 9110, 5.6.7; RFC 9111, 4.2)", (text, date) => {
  expect(new Date(parseHttpDate(text, nowMs) ?? 0).toISOString()).toBe(date);
});

test.each([
  ["0"],
  [""],
  ["Sun, 06 Nov 1994 08:49:37 UTC"],
  ["Sun, 6 Nov 1994 08:49:37 GMT"],
  ["Sun, 06  Nov 1994 08:49:37 GMT"],
  ["Sun, 06 Nov 1994 8:49:37 GMT"],
  ["Sun 06 Nov 1994 08:49:37 GMT"],
  ["Thu, 31 Feb 2050 08:49:37 GMT"],
  ["Sun, 06 Nov 1994 25:49:37 GMT"],
  ["1994-11-06T08:49:37.000Z"],
])("%s is not an HTTP-date", (text) => {
  expect(parseHttpDate(text, nowMs)).toBeUndefined();
});
