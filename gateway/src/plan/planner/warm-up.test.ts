import { expect, test } from "vitest";
import { findWarmUpOperation } from "./warm-up.ts";

test("a warm-up goes through several types, and needs no argument", () => {
  const operation = findWarmUpOperation(`
    type Query { byId(id: ID!): Post posts(first: Int = 3): [Post!]! count: Int any: Any }
    type Post { id: ID! title: String body(format: Format!): String author: Person }
    type Person { id: ID! posts: [Post] }
    union Any = Post | Person
    enum Format { PLAIN }
  `);
  expect(operation).toBe("{ count posts { id title author { id posts { id title } } } any { __typename } }");
});

test("there is none when every root field needs an argument", () => {
  expect(findWarmUpOperation("type Query { byId(id: ID!): ID }")).toBeUndefined();
});

test("a type that cannot be left without arguments is left out", () => {
  expect(findWarmUpOperation("type Query { a: A b: Int } type A { byId(id: ID!): ID }")).toBe("{ b }");
});
