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
  expect(await readAll(source)).toEqual([expected]);
});

test("fragments that spread the next one twice are each visited once", async () => {
  const levels = Array.from({ length: 30 }, (_, at) => `fragment F${at} on Letters { ...F${at + 1} ...F${at + 1} }`);
  const source = `{ letters { ...F0 } } ${levels.join(" ")} fragment F30 on Letters { nodes { id } }`;
  expect(await readAll(source)).toEqual([false]);
});

/** What is found at each field that is resolved. */
async function readAll(source: string): Promise<readonly boolean[]> {
  const found: boolean[] = [];
  const resolve = (_: unknown, _context: unknown, info: GraphQLResolveInfo) => {
    found.push(selectsField(info, "Letter", ["text"]));
    return null;
  };
  await graphql({ schema, source, rootValue: { letters: resolve, any: resolve } });
  return found;
}
