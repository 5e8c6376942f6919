import { expect, test } from "vitest";
import { writeLeaf, writeString } from "./leaf.ts";

test.each([
  ["Int", 0, "0"],
  ["Int", -0, "0"],
  ["Int", 2_147_483_647, "2147483647"],
  ["Int", -2_147_483_648, "-2147483648"],
  ["Float", 0.1, "0.1"],
  ["Float", 1e21, "1e+21"],
  ["Float", -5e-324, "-5e-324"],
  ["ID", "a", '"a"'],
  ["ID", 7, '"7"'],
  ["ID", Number.MAX_SAFE_INTEGER, '"9007199254740991"'],
  ["String", "", '""'],
  ["Boolean", false, "false"],
  ["custom", { a: [1, null] }, '{"a":[1,null]}'],
  ["custom", "2026-01-01", '"2026-01-01"'],
] as const)("%s %j is written as %s", (kind, value, text) => {
  expect(writeLeaf(value, kind)).toBe(text);
  expect(() => JSON.parse(text)).not.toThrow();
});

test.each([
  ["Int", 2_147_483_648],
  ["Int", -2_147_483_649],
  ["Int", 1.5],
  ["Int", "1"],
  ["Int", true],
  ["Float", "1.5"],
  ["Float", true],
  ["ID", 1.5],
  ["ID", Number.MAX_SAFE_INTEGER + 1],
  ["ID", true],
  ["String", 1],
  ["String", ["a"]],
  ["Boolean", 0],
  ["Boolean", "true"],
] as const)("a value of %s cannot be %j", (kind, value) => {
  expect(writeLeaf(value, kind)).toBeUndefined();
});

/** As long as a text that is scanned here, and longer. */
test.each([1, 200])("texts are JSON as JSON.stringify writes it, repeated %i times", (count) => {
  for (const part of [
    "plain",
    'quo"te',
    "back\\slash",
    "\n\t\u0000\u001f",
    "é → 😀",
    "\ud800",
    "x\udc00",
    "</script>",
    "\u2028",
  ]) {
    const text = part.repeat(count);
    expect(writeString(text)).toBe(JSON.stringify(text));
  }
});

test("a surrogate that stands alone survives the way through UTF-8", () => {
  const bytes = Buffer.from(writeString("a\ud800b"));
  expect(JSON.parse(bytes.toString("utf8"))).toBe("a\ud800b");
});
