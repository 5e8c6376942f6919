import { expect, test } from "vitest";
import { decodePathParameter } from "./path-parameter.ts";

test.each(["1", "a.b", "...", ".a", "a:b@c", "x!$&'()*+,=y", "-_~"])("%s is unchanged", (segment) => {
  expect(decodePathParameter(segment)).toBe(segment);
});

test("an encoded character is decoded once", () => {
  expect(decodePathParameter("caf%C3%A9")).toBe("café");
  expect(decodePathParameter("a%20b")).toBe("a b");
  expect(decodePathParameter("a%3ab")).toBe("a:b");
});

test("a character that never needs encoding is rejected if it is encoded", () => {
  for (const character of "ABYZabyz0189-._~") {
    const code = character.charCodeAt(0).toString(16);
    expect(decodePathParameter(`x%${code}`)).toBeUndefined();
    expect(decodePathParameter(`x%${code.toUpperCase()}`)).toBeUndefined();
  }
});

test.each([
  "",
  "..",
  "../..",
  "a/b",
  "a\\b",
  "a;b",
  "a b",
  "é",
  "a?b",
  "a#b",
  "%",
  "%2",
  "%zz",
  "%2f",
  "%5C",
  "%3b",
  "%3F",
  "%23",
  "%25",
  "%00",
  "%0a",
  "%7f",
  "%c2%85",
  "%c0%af",
  "%ed%a0%80",
])("%j is not a valid parameter", (segment) => {
  expect(decodePathParameter(segment)).toBeUndefined();
});

test("a parameter has at most 256 characters; an encoded byte counts as one", () => {
  expect(decodePathParameter("a".repeat(256))).toHaveLength(256);
  expect(decodePathParameter("a".repeat(257))).toBeUndefined();
  expect(decodePathParameter("%C3%A9".repeat(128))).toHaveLength(128);
  expect(decodePathParameter("%C3%A9".repeat(129))).toBeUndefined();
});
