import { expect, test } from "vitest";
import { decodeJson, isJsonType, parseUniqueJson } from "./json-body.ts";

test.each([
  ["a key twice", '{"a":1,"a":1}'],
  ["a key twice with other members between", '{"a":1,"b":{"a":1},"a":null}'],
  ["a key twice in a list's object", '[1,{"b":[],"b":[]}]'],
  ["a key twice, once with an escape", String.raw`{"ab":1,"a\u0062":1}`],
  ["a key twice, once with space before its colon", '{"a" \t\r\n:1,"a":1}'],
  ["an empty key twice", '{"":1,"":1}'],
  ["__proto__ twice", '{"__proto__":1,"__proto__":2}'],
  ["an object that is replaced", '{"a":{"b":1,"c":2},"a":0}'],
  ["a key twice 100,000 levels down", `${"[".repeat(100_000)}{"a":1,"a":1}${"]".repeat(100_000)}`],
])("%s is an error", (_, text) => {
  expect(() => parseUniqueJson(text)).toThrow("has a key twice in one object");
});

test.each([
  '{"a":{"a":{"a":[{"a":1},{"a":1}]}}}',
  '{"__proto__":1,"constructor":2,"toString":{"__proto__":{}},"then":3,"hasOwnProperty":4,"length":5}',
  String.raw`{"a":"\"a\":1,\"a\":1","b\\":"\\","b\\\"":":","c":"{\"c\":"}`,
  '{"A":1,"a":1,"1":1,"01":1}',
  '["a","a",{},{},[":"],"b"]',
  '"a"',
  " 1",
  "null",
])("%s has no key twice", (text) => {
  expect(parseUniqueJson(text)).toEqual(JSON.parse(text));
});

test("the error for invalid JSON does not quote it", () => {
  for (const text of ["", "{secret", '{"secret":1,"secret":1', '"', "\\"]) {
    expect(() => parseUniqueJson(text)).toThrow(/^is not JSON$/);
  }
});

test("JSON is UTF-8 without a byte order mark (RFC 8259, 8.1)", () => {
  expect(decodeJson(Buffer.from('"é\ufeff"'))).toBe('"é\ufeff"');
  expect(() => decodeJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow("is not UTF-8");
  expect(() => decodeJson(Buffer.from("\ufeff{}"))).toThrow("begins with a byte order mark");
  for (const encoding of ["utf16le", "latin1"] as const) {
    expect(() => decodeJson(Buffer.from("\ufeff{}\xe9", encoding))).toThrow("is not UTF-8");
  }
});

const types = ["application/json", "application/merge-patch+json"];

test.each([
  "application/json",
  "Application/JSON ; Charset=UTF-8",
  'application/merge-patch+json;charset="utf-8"',
  "application/json; charset=utf8; version=1",
])("%s is JSON in UTF-8", (contentType) => {
  expect(isJsonType(contentType, types)).toBe(true);
});

test.each([
  undefined,
  "",
  "text/plain",
  "application/jsonp",
  "application/json, text/plain",
  "application/json; charset=utf-16",
  "application/json; charset=utf-8; charset=utf-16",
  "application/json; charset=utf-16; charset=utf-8",
  "application/json; charset=utf-8; charset=utf-8",
  "application/json; charset=utf-8, text/plain",
  "application/json; charset =utf-16",
  "application/json; charset*=utf-8''utf-16",
  "application/json; charset",
])("%s is not", (contentType) => {
  expect(isJsonType(contentType, types)).toBe(false);
});
