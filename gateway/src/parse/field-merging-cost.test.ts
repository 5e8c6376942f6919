import { parse } from "graphql";
import { expect, test } from "vitest";
import { findExcessiveMerging } from "./field-merging-cost.ts";

const many = (count: number, write: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(" ");
const find = (text: string) => findExcessiveMerging(parse(text))?.code;

test.each([
  ["one field", `{ books { ${"title ".repeat(400)} } }`],
  ["a field with others below it", `{ books { ${"author { books { title } } ".repeat(250)} } }`],
  [
    "a field at each of many levels",
    `{ books { ${`author { ${"books { author { name id } } ".repeat(4)} } `.repeat(100)} } }`,
  ],
  ["a field in inline fragments", `{ books { ${"... { title } ".repeat(400)} } }`],
  [
    "few fields, deep in inline fragments",
    `{ books { ${"... { ".repeat(900)} ${"title ".repeat(14)} ${"} ".repeat(900)} } }`,
  ],
  [
    "a field in fragments",
    `{ books { ${many(400, (i) => `...F${i}`)} } } ${many(400, (i) => `fragment F${i} on Book { title }`)}`,
  ],
  ["a field in an unused fragment", `{ books { title } } fragment F on Book { ${"title ".repeat(3_000)} }`],
  ["fields repeated a little in many operations", many(40, (i) => `query Q${i} { books { ${"title ".repeat(60)} } }`)],
])("%s, repeated too often, is rejected", (_, text) => {
  expect(find(text)).toBe("SELECTION_LIMIT_EXCEEDED");
});

test.each([
  ["two thousand different fields", `{ books { ${many(2_000, (i) => `f${i}`)} } }`],
  ["one field below many aliases", `{ ${many(500, (i) => `a${i}: book { title author { name } }`)} }`],
  [
    "a hundred fragments that share ten fields",
    `{ books { ${many(100, (i) => `...F${i}`)} } } ${many(100, (i) => `fragment F${i} on Book { title isbn author { name id books { title isbn author { id name } } } }`)}`,
  ],
  ["fragments in a cycle", "{ books { ...F } } fragment F on Book { author { books { title ...F } } ...F }"],
])("%s pass", (_, text) => {
  expect(find(text)).toBeUndefined();
});

test("fields outside a cycle are counted", () => {
  const cycle = "fragment F on Book { author { books { title ...F } } ...F }";
  expect(find(`{ books { ${"title ".repeat(400)} ...F } } ${cycle}`)).toBe("SELECTION_LIMIT_EXCEEDED");
});

test("an unused fragment that expands to billions of fields is rejected", () => {
  const levels = many(40, (i) => `fragment F${i} on Book { a: next { ...F${i + 1} } b: next { ...F${i + 1} } }`);
  expect(find(`{ books { title } } ${levels} fragment F40 on Book { title }`)).toBe("SELECTION_LIMIT_EXCEEDED");
});
