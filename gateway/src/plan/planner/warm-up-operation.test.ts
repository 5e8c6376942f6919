import { expect, test } from "vitest";
import { findWarmUpOperation } from "./warm-up-operation.ts";

test("the warm-up operation selects fields of several types without arguments", () => {
  const operation = findWarmUpOperation(`
    type Query { byId(id: ID!): Post posts(first: Int = 3): [Post!]! count: Int any: Any }
    type Post { id: ID! title: String body(format: Format!): String author: Person }
    type Person { id: ID! posts: [Post] }
    union Any = Post | Person
    enum Format { PLAIN }
  `);
  expect(operation).toBe("{ count posts { id title author { id posts { id title } } } any { __typename } }");
});

test("there is no warm-up operation if every root field requires an argument", () => {
  expect(findWarmUpOperation("type Query { byId(id: ID!): ID }")).toBeUndefined();
});

test("a type whose fields all require arguments is omitted", () => {
  expect(findWarmUpOperation("type Query { a: A b: Int } type A { byId(id: ID!): ID }")).toBe("{ b }");
});
