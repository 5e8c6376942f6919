import { expect, test } from "vitest";
import { hasInexactNumber, parseExactJson } from "./exact-json.ts";

test.each([
  ["9007199254740993", "9007199254740993"],
  ["-9007199254740993", "-9007199254740993"],
  ["1152921504606846976", "1152921504606846976"],
  ["9223372036854775807", "9223372036854775807"],
  ["9007199254740993.0", "9007199254740993.0"],
  ["9.007199254740993e15", "9.007199254740993e15"],
  ["900719925474099.3e1", "900719925474099.3e1"],
  ["4.00000000000000000001", "4.00000000000000000001"],
  ["9007199254740993.5", "9007199254740993.5"],
])("%s, which no double keeps, becomes a text", (json, text) => {
  expect(parseExactJson(`{"a":[${json},1]}`)).toEqual({ a: [text, 1] });
  expect(hasInexactNumber(`[${json}]`)).toBe(true);
});

test.each([
  "9007199254740991",
  "9007199254740992",
  "1234567890123456800",
  "1.2345678901234568e+18",
  "0.12345678901234567",
  "3.14159265358979323846",
  "1234567890123456.75",
  "1.7976931348623157e308",
  "0.00000000000000000000",
  "1000000000000000000",
  "12345678901234567890123456789",
  "-0.0000000000000000",
])("%s is a number as ever", (json) => {
  expect(parseExactJson(`[${json}]`)).toEqual([JSON.parse(json)]);
  expect(hasInexactNumber(`[${json}]`)).toBe(false);
});

test("digits in strings and keys are unchanged, also next to escapes", () => {
  const json = String.raw`{"9007199254740993":"9007199254740993","a\\":"\"9007199254740993","b":9007199254740993,"c":"\\"}`;
  expect(parseExactJson(json)).toEqual({
    "9007199254740993": "9007199254740993",
    "a\\": '"9007199254740993',
    b: "9007199254740993",
    c: "\\",
  });
});

test("invalid JSON is an error", () => {
  for (const text of ["{9007199254740993:1}", "09007199254740993", "[9007199254740993", "--9007199254740993"]) {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  }
});
