import { expect, test } from "vitest";
import { JsonBytes } from "./json-bytes.ts";
import { writeLeaf } from "./leaf.ts";

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
  const out = new JsonBytes();
  expect(writeLeaf(value, kind, out)).toBe(true);
  expect(out.take().toString()).toBe(text);
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
  const out = new JsonBytes();
  expect(writeLeaf(value, kind, out)).toBe(false);
  expect(out.length).toBe(0);
});
