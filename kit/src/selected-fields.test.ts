import { buildSchema, graphql, type GraphQLResolveInfo } from "graphql";
import { expect, test } from "vitest";
import { selectsField } from "./selected-fields.ts";

const schema = buildSchema(`
  type Query { letters: Letters any: Paper }
  type Letters { nodes: [Letter!]! first: Letter }
  union Paper = Letter | Person
  type Letter { id: ID! text: String by: Person }
  type Person { name: String letters: [Letter!] }
`);

test.each([
  ["{ letters { nodes { text } } }", true],
  ["{ letters { nodes { id } } }", false],
  ["{ letters { nodes { id } first { other: text } } }", true],
  ["{ letters { nodes { text: id } } }", false],
  ["{ letters { nodes { id by { name } } } }", false],
  ["{ letters { nodes { ... { text } } } }", true],
  ["{ letters { ...F } } fragment F on Letters { nodes { ...G } } fragment G on Letter { text }", true],
  ["{ letters { ...F } } fragment F on Letters { nodes { ...G } } fragment G on Letter { id }", false],
  ["{ letters { nodes { text @skip(if: true) } } }", true],
  ["{ letters { nodes { id } } letters { nodes { text } } }", true],
  ["{ letters { nodes { id by { letters { text } } } } }", false],
  ["{ any { ... on Letter { text } } }", true],
  ["{ any { ... on Letter { id } ... on Person { name } } }", false],
  ["{ any { ... on Person { letters { text } } } }", true],
])("%s asks a letter for its text: %s", async (source, expected) => {
  const seen: boolean[] = [];
  const resolve = (_: unknown, _context: unknown, info: GraphQLResolveInfo) => {
    seen.push(selectsField(info, "Letter", ["text"]));
    return null;
  };
  await graphql({ schema, source, rootValue: { letters: resolve, any: resolve } });
  expect(seen).toEqual([expected]);
});
