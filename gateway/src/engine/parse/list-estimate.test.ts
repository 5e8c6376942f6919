import { buildSchema, getOperationAST, parse } from "graphql";
import { expect, test } from "vitest";
import { createListEstimate } from "./list-estimate.ts";

const schema = buildSchema(`
  type Query { me: User node: Node any: Any users(first: Int = 20): [User] user: User }
  interface Node { posts(first: Int = 20): [Post] }
  union Any = User | Post
  type User implements Node { id: ID posts(first: Int = 20, last: Int = 30): [Post] all: [Post] scores(first: Int = 20): [Int] }
  type Post { id: ID author: User comments(first: Int): [Post] }
`);

const estimate = (text: string, variables: Record<string, unknown> = {}) => {
  const document = parse(text);
  return createListEstimate(schema, document, getOperationAST(document)!)?.(variables);
};

const aliases = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: id`).join(" ");

test.each([
  ["one list", "{ users(first: 5) { id } }", 5],
  ["lists side by side", "{ users(first: 5) { id } a: users(first: 6) { id } }", 5 + 6],
  ["a list in a list", "{ users(first: 5) { posts(first: 7) { id } } }", 5 * (1 + 7)],
  [
    "an object between lists",
    "{ users(first: 2) { posts(first: 3) { author { posts(first: 4) { id } } } } }",
    2 * (1 + 3 * (1 + 4)),
  ],
  ["`last`", "{ users(first: 5) { posts(last: 7) { id } } }", 5 * (1 + 7)],
  ["`first` and `last`", "{ users(first: 5) { posts(first: 1, last: 7) { id } } }", 5 * (1 + 7)],
  ["the largest default value of the schema", "{ users { posts { id } } }", 20 * (1 + 30)],
  ["a list without a default value", "{ user { posts(first: 5) { comments { id } } } }", 5 * (1 + 1)],
  ["a list without an argument", "{ users(first: 5) { all { author { posts(first: 7) { id } } } } }", 5 * (1 + 7)],
  [
    "fragments",
    "{ users(first: 5) { ...F ... { a: posts(first: 8) { id } } } } fragment F on User { posts(first: 7) { id } }",
    5 * (1 + 7 + 8),
  ],
  [
    "types of an interface or a union",
    "{ node { posts(first: 5) { id } } any { ... on User { posts(first: 6) { id } } } }",
    5 + 6,
  ],
  ["an entry with up to ten fields", `{ users(first: 5) { ${aliases(10)} } }`, 5],
  ["an entry with more fields", `{ users(first: 5) { ${aliases(25)} } }`, 5 * 3],
  [
    "fields of objects and fragments of an entry, but not those of its lists",
    `{ users(first: 5) { all { ...F author { ${aliases(8)} } } posts(first: 7) { ${aliases(21)} } } } fragment F on Post { id author { id } }`,
    5 * (2 + 7 * 3),
  ],
  ["a negative size", "{ users(first: -5) { posts(first: 7) { id } } }", 0],
])("%s", (_, text, entries) => {
  expect(estimate(text)).toBe(entries);
});

test.each([
  ["a value", { n: 5 }, 5 * (1 + 5)],
  ["the default value of the variable", {}, 9 * (1 + 9)],
  ["null", { n: null }, 9 * (1 + 9)],
])("a variable with %s", (_, variables, entries) => {
  expect(estimate("query ($n: Int = 9) { users(first: $n) { posts(first: $n) { id } } }", variables)).toBe(entries);
});

test("a variable without a value has the default value of the schema", () => {
  expect(estimate("query ($n: Int) { users(first: $n) { id } }")).toBe(20);
});

test("an operation without pages of objects has no estimate", () => {
  expect(estimate("{ me { id all { id } scores(first: 50) } }")).toBeUndefined();
});
