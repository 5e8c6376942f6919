import { expect, test } from "vitest";
import { decodeJson, endOfString, isJsonType, parseUniqueJson } from "../http/json-body.ts";
import { stringifyDeepJson } from "./deep-json.ts";
import { hasInexactNumber, parseBigIntJson, parseExactJson } from "./exact-json.ts";

test.each([
  ["a key twice with other members between", '{"a":1,"b":{"a":1},"a":null}'],
  ["a key twice in a list's object", '[1,{"b":[],"b":[]}]'],
  ["a key twice, once with an escape", String.raw`{"ab":1,"a\u0062":1}`],
  ["a key twice, once with space before its colon", '{"a" \t\r\n:1,"a":1}'],

  ["__proto__ twice", '{"__proto__":1,"__proto__":2}'],
  ["an object that is replaced", '{"a":{"b":1,"c":2},"a":0}'],
  ["a key twice at the deepest level", `${"[".repeat(499)}{"a":1,"a":1}${"]".repeat(499)}`],
])("%s is an error", (_, text) => {
  expect(() => parseUniqueJson(text)).toThrow("has a key twice in one object");
});

test.each([
  '{"a":{"a":{"a":[{"a":1},{"a":1}]}}}',
  '{"__proto__":1,"constructor":2,"toString":{"__proto__":{}},"then":3,"hasOwnProperty":4,"length":5}',
  String.raw`{"a":"\"a\":1,\"a\":1","b\\":"\\","b\\\"":":","c":"{\"c\":"}`,
  '{"A":1,"a":1,"1":1,"01":1}',
  '["a","a",{},{},[":"],"b"]',
  " 1",
])("%s has no key twice", (text) => {
  expect(parseUniqueJson(text)).toEqual(JSON.parse(text));
});

test.each([
  ["lists that are nested too deeply", "[".repeat(501), "more than 500 levels"],
  ["objects that are nested too deeply", '{"a":'.repeat(501), "more than 500 levels"],
  ["too many members", `{${Array.from({ length: 10_000 }, (_, i) => `"${i}":0`).join()}}`, "more than 10000 members"],
  ["too many lists", `[${"[],".repeat(10_000)}0]`, "more than 10000 members"],
  ["too many values", `[${"0,".repeat(100_000)}0]`, "more than 100000 values"],
  ["too many numbers that are not exact", `[${"9007199254740993,".repeat(5_001)}0]`, "more than 5000 numbers"],
])("%s are an error", (_, text, message) => {
  expect(() => parseExactJson(text)).toThrow(message);
});

test("brackets, colons and commas in strings do not count, and elements of lists are no members", () => {
  const text = JSON.stringify({
    query: "{[:,".repeat(120_000),
    escaped: '"[{:\\'.repeat(9_000),
    list: Array(50_000).fill(1),
  });
  expect(parseExactJson(text)).toEqual(JSON.parse(text));
});

test("the end of a string is found at any length, with any escapes", () => {
  for (let length = 0; length < 40; length++)
    for (const end of ["", String.raw`\\`, String.raw`\"`, String.raw`\\\"`, String.raw`\"\"`, String.raw`\"x\\`]) {
      const text = `"${"x".repeat(length)}${end}"`;
      expect(endOfString(`${text}:"`, 0)).toBe(text.length);
      expect(endOfString(text.slice(0, -1), 0)).toBe(text.length - 1);
    }
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
  "application/jsonp",
  "application/json, text/plain",
  "application/json; charset=utf-16",
  "application/json; charset=utf-16; charset=utf-8",
  "application/json; charset=utf-8; charset=utf-8",
  "application/json; charset =utf-16",
  "application/json; charset*=utf-8''utf-16",
  "application/json; charset",
])("%s is not JSON in UTF-8", (contentType) => {
  expect(isJsonType(contentType, types)).toBe(false);
});

test.each([
  ["9007199254740993", 2n ** 53n + 1n],
  ["-9007199254740993", -(2n ** 53n) - 1n],
  ["1152921504606846976", 2n ** 60n],
  ["12345678901234567890123456789", 12_345_678_901_234_567_890_123_456_789n],
  ["9007199254740993.0", "9007199254740993.0"],
  ["9.007199254740993e15", "9.007199254740993e15"],
  ["900719925474099.3e1", "900719925474099.3e1"],
  ["4.00000000000000000001", "4.00000000000000000001"],
  ["9007199254740993.5", "9007199254740993.5"],
])("%s, which a double cannot represent, becomes a bigint or a text", (json, value) => {
  expect(parseExactJson(`{"a":[${json},1]}`)).toEqual({ a: [value, 1] });
  expect(hasInexactNumber(`[${json}]`)).toBe(true);
});

test.each([
  "9007199254740992",
  "1234567890123456800",
  "1.2345678901234568e+18",
  "3.14159265358979323846",
  "1234567890123456.75",
  "1.7976931348623157e308",
  "0.00000000000000000000",
  "1000000000000000000",
  "1.2345678901234567890123456789e28",
  "-0.0000000000000000",
])("%s remains a number", (json) => {
  expect(parseExactJson(`[${json}]`)).toEqual([JSON.parse(json)]);
  expect(hasInexactNumber(`[${json}]`)).toBe(false);
});

test("digits in strings and keys are unchanged, also next to escapes", () => {
  const json = String.raw`{"9007199254740993":"9007199254740993","a\\":"\"9007199254740993","b":9007199254740993,"c":"\\"}`;
  expect(parseExactJson(json)).toEqual({
    "9007199254740993": "9007199254740993",
    "a\\": '"9007199254740993',
    b: 9_007_199_254_740_993n,
    c: "\\",
  });
});

test("invalid JSON is an error", () => {
  for (const text of ["{9007199254740993:1}", "09007199254740993", "[9007199254740993", "--9007199254740993"]) {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
    expect(() => parseBigIntJson(Buffer.from(text))).toThrow(SyntaxError);
  }
});

test.each([
  ["[9007199254740992,9007199254740993,-9007199254740992]", [2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n)]],
  ["[9007199254740991,-9007199254740991,0,1700000000000000]", [2 ** 53 - 1, 1 - 2 ** 53, 0, 1_700_000_000_000_000]],
  [`[${"9".repeat(308)},${"9".repeat(400)}]`, [BigInt("9".repeat(308)), Infinity]],
  ["[1e20,9007199254740993.0,9.007199254740993e15,-0]", [1e20, 9_007_199_254_740_992, 9_007_199_254_740_992, -0]],
  [
    '["9007199254740993",", 9007199254740993"," \\"9007199254740993"]',
    ["9007199254740993", ", 9007199254740993", ' "9007199254740993'],
  ],
  [
    '{"9007199254740993":9007199254740993,"__proto__":9007199254740993,"a":[]}',
    JSON.parse('{"9007199254740993":0,"__proto__":0,"a":[]}', (_, value) => (value === 0 ? 2n ** 53n + 1n : value)),
  ],
  ['{"a":9007199254740993,"a":1,"b":9007199254740995}', { a: 1, b: 2n ** 53n + 3n }],
  ["9007199254740993", 2n ** 53n + 1n],
  ['\ufeff{"a":\t9007199254740993}', { a: 2n ** 53n + 1n }],
])("whole numbers beyond 2^53 - 1 are bigints: %s", (json, value) => {
  expect(parseBigIntJson(Buffer.from(json))).toEqual(value);
});

test("a bigint is found at any index, next to anything that can precede or follow it", () => {
  for (let length = 0; length < 40; length++)
    for (const [before, after] of [
      ["[", "]"],
      ["[1,", ",1]"],
      ['{"a":', "}"],
      ["[ -", " ]"],
      ["[\n", "\n]"],
    ] as const) {
      const json = `{"${"x1234567890123456789".repeat(2).slice(0, length)}":${before}9007199254740993${after}}`;
      expect(stringifyDeepJson(parseBigIntJson(Buffer.from(json)))).toBe(json.replaceAll(/[ \n]/g, ""));
    }
});

test("values of any depth are written as they were parsed", () => {
  const shallow = '{"a":[1,9007199254740993,"\\u0000",null,{"b":{}},[]],"":true}';
  const texts = [nest('{"x":', shallow, "}"), nest("[0,", shallow, ',{"y":2.5}]'), shallow, "null", '"x"'];
  // Compared without matchers: they recurse to print a difference.
  expect(texts.map((text) => stringifyDeepJson(parseBigIntJson(Buffer.from(text))) === text)).toEqual(
    texts.map(() => true),
  );
});

function nest(before: string, inner: string, after: string): string {
  const levels = 20_000;
  return before.repeat(levels) + inner + after.repeat(levels);
}
