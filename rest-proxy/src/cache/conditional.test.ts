import { expect, test } from "vitest";
import { confirmsStored, isNotModified, validationConditions, validatorsOf } from "./conditional.ts";

const nowMs = Date.UTC(2026, 10, 21);
const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toUTCString();
const tagged = validatorsOf(["ETag", '"a"', "Last-Modified", at(-10)], nowMs);
const dated = validatorsOf(["Date", at(-10)], nowMs);

test.each([
  [{ "if-none-match": '"a"' }, true],
  [{ "if-none-match": 'W/"a"' }, true],
  [{ "if-none-match": '"b", "a"' }, true],
  [{ "if-none-match": '"b", "c"' }, false],
  [{ "if-none-match": "*" }, true],
  [{ "if-none-match": "a" }, false],
  [{ "if-none-match": '"xa", "b,\\"a"' }, false],
  [{ "if-none-match": '"b"', "if-modified-since": at(0) }, false],
  [{ "if-modified-since": at(-10) }, true],
  [{ "if-modified-since": at(-11) }, false],
  [{ "if-modified-since": "yesterday" }, false],
  [{}, false],
])("%j matches the stored response: %s (RFC 9110, 13.1.2, 13.1.3, 13.2.2)", (headers, expected) => {
  expect(isNotModified(headers, tagged, nowMs)).toBe(expected);
});

test("without Last-Modified, the end of the second in Date counts (RFC 9111, 4.3.2)", () => {
  expect(isNotModified({ "if-modified-since": at(-9) }, dated, nowMs)).toBe(true);
  expect(isNotModified({ "if-modified-since": at(-10) }, dated, nowMs)).toBe(false);
  expect(isNotModified({ "if-none-match": '"a"' }, dated, nowMs)).toBe(false);
  expect(isNotModified({ "if-none-match": "" }, dated, nowMs)).toBe(false);
});

test("a stored response is validated with both of its validators (RFC 9111, 4.3.1)", () => {
  expect(validationConditions(["ETag", 'W/"a"', "Last-Modified", "x"])).toEqual([
    "If-None-Match",
    'W/"a"',
    "If-Modified-Since",
    "x",
  ]);
  expect(validationConditions(["Date", "x"])).toEqual([]);
});

test.each([
  [["ETag", '"a"'], ["ETag", '"a"'], true],
  [["ETag", '"b"'], ["ETag", '"a"'], false],
  [["ETag", '"a"'], ["ETag", 'W/"a"'], false],
  [["ETag", 'W/"a"'], ["ETag", '"a"'], true],
  [["ETag", 'W/"b"'], ["ETag", '"a"'], false],
  [[], ["ETag", '"a"'], true],
])("a 304 with %j confirms a stored response with %j: %s (RFC 9111, 4.3.4)", (update, stored, expected) => {
  expect(confirmsStored(update, stored)).toBe(expected);
});
