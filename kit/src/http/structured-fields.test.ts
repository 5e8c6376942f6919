import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDictionary, parseList } from "./structured-fields.ts";

const integer = (value: number) => ({ kind: "integer", value });
const truth = { kind: "boolean", value: true };

test.each([
  ["max-age=60", [["max-age", integer(60)]]],
  [
    "a, b=?0",
    [
      ["a", truth],
      ["b", { kind: "boolean", value: false }],
    ],
  ],
  ["a=1.5", [["a", { kind: "decimal", value: 1.5 }]]],
  ['a="x \\"y\\""', [["a", { kind: "string", value: 'x "y"' }]]],
  ["a=to/ken:x", [["a", { kind: "token", value: "to/ken:x" }]]],
  ["a=:aGk=:", [["a", { kind: "bytes", value: "aGk=" }]]],
  ["a=@1659578233", [["a", { kind: "date", value: 1_659_578_233 }]]],
  ['a=%"f%c3%bc"', [["a", { kind: "display-string", value: "f%c3%bc" }]]],
  ['a=(1 "b");p=2', [["a", { kind: "inner-list", value: [integer(1), { kind: "string", value: "b" }] }]]],
  [
    "a;p;q=1, b=2;r",
    [
      ["a", truth],
      ["b", integer(2)],
    ],
  ],
  [
    "a=1, b=2, a=3",
    [
      ["b", integer(2)],
      ["a", integer(3)],
    ],
  ],
  [
    "  a=-12 \t,\t b  ",
    [
      ["a", integer(-12)],
      ["b", truth],
    ],
  ],
  ["", []],
])("%j is a dictionary (RFC 9651, 4.2.2)", (text, members) => {
  expect([...(parseDictionary(text) ?? [["broken"]])]).toEqual(members);
});

test("a dictionary with one invalid member is invalid", () => {
  const members = ["&&&&&", "max-age=10, &&", "Max-Age=10", "a=1,", "a=1 b=2", "a= 1", "a =1"];
  const values = ["a=(1 2", 'a="x', 'a="ü"', "a=1234567890123456", "a=1.2345", "a=?2"];
  for (const text of [...members, ...values]) expect(parseDictionary(text), text).toBeUndefined();
});

test("a list has its items in order, and is invalid if one of them is (RFC 9651, 4.2.1)", () => {
  expect(parseList('"a", "b";x=1, ("c")')).toMatchObject([{ value: "a" }, { value: "b" }, { value: [{ value: "c" }] }]);
  expect(parseList('"a", b c')).toBeUndefined();
});

/** Pieces of valid and invalid header values. */
const pieces = 'a b 0 12 - . , ; " \\ ( ) ?1 : @ % * & ü = max-age =10'.split(" ").concat(" ", "\t");

test("no text makes a parser throw", () => {
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      parseDictionary(text);
      parseList(text);
    }),
  );
});
