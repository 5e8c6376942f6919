import { expect, test } from "vitest";
import { isSameVaryKey, matchesVary, toVaryKey, varyFields } from "./vary.ts";

test.each([
  [
    ["Vary", "Accept, accept-encoding"],
    ["accept", "accept-encoding"],
  ],
  [
    ["Vary", "B", "vary", "A, b"],
    ["a", "b"],
  ],
  [["Vary", ""], []],
  [[], []],
  [["Vary", "*"], "*"],
  [["Vary", ", *"], "*"],
  [["Vary", "Accept", "Vary", "*"], "*"],
])("%j varies by %j (RFC 9110, 12.5.5)", (headers, fields) => {
  expect(varyFields(headers)).toEqual(fields);
});

const request = (fields: Record<string, string>) => (field: string) => fields[field];

test("a request matches a response if it has the values of the request that fetched the response (RFC 9111, 4.1)", () => {
  const varyKey = toVaryKey(["a", "b"], request({ a: "1" }));
  expect(matchesVary(varyKey, request({ a: "1", c: "x" }))).toBe(true);
  expect(matchesVary(varyKey, request({ a: "2" }))).toBe(false);
  expect(matchesVary(varyKey, request({}))).toBe(false);
  expect(matchesVary(varyKey, request({ a: "1", b: "2" }))).toBe(false);
  expect(matchesVary(toVaryKey([], request({})), request({ a: "1" }))).toBe(true);
});

test("Vary keys are the same if fields and values are", () => {
  const varyKey = toVaryKey(["a"], request({ a: "1" }));
  expect(isSameVaryKey(varyKey, toVaryKey(["a"], request({ a: "1" })))).toBe(true);
  expect(isSameVaryKey(varyKey, toVaryKey(["a"], request({})))).toBe(false);
  expect(isSameVaryKey(varyKey, toVaryKey(["a", "b"], request({ a: "1" })))).toBe(false);
});
