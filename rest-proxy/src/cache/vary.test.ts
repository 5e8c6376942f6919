import { expect, test } from "vitest";
import { isSameSelection, isSelected, selectionOf, varyFields } from "./vary.ts";

const request = (fields: Record<string, string>) => (field: string) => fields[field];

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

test("an answer is selected by the values that its request had (RFC 9111, 4.1)", () => {
  const selection = selectionOf(["a", "b"], request({ a: "1" }));
  expect(isSelected(selection, request({ a: "1", c: "x" }))).toBe(true);
  expect(isSelected(selection, request({ a: "2" }))).toBe(false);
  expect(isSelected(selection, request({}))).toBe(false);
  expect(isSelected(selection, request({ a: "1", b: "2" }))).toBe(false);
  expect(isSelected(selectionOf([], request({})), request({ a: "1" }))).toBe(true);
});

test("selections are the same when fields and values are", () => {
  const one = selectionOf(["a"], request({ a: "1" }));
  expect(isSameSelection(one, selectionOf(["a"], request({ a: "1" })))).toBe(true);
  expect(isSameSelection(one, selectionOf(["a"], request({})))).toBe(false);
  expect(isSameSelection(one, selectionOf(["a", "b"], request({ a: "1" })))).toBe(false);
});
