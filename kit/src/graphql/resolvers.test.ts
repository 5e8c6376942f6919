import { buildSchema, graphql, type GraphQLResolveInfo } from "graphql";
import { expect, test } from "vitest";
import { createLoaderById, createLoaderByKey } from "./loaders.ts";
import { selectsField } from "./selected-fields.ts";

interface User {
  readonly id: string;
  readonly name: string;
}

const idOf = (user: User) => user.id;
const ada: User = { id: "1", name: "ada" };
const grace: User = { id: "2", name: "grace" };

test("ids that are loaded together are one call, each id once; an id without a row loads null", async () => {
  const calls: (readonly string[])[] = [];
  const users = createLoaderById<User>(async (ids) => {
    calls.push(ids);
    return [grace, ada];
  }, idOf);
  expect(await Promise.all(["1", "2", "1", "3"].map((id) => users.load(id)))).toEqual([ada, grace, ada, null]);
  expect(calls).toEqual([["1", "2", "3"]]);
});

test("more than a thousand ids are several calls", async () => {
  const sizes: number[] = [];
  const users = createLoaderById<User>(async (ids) => {
    sizes.push(ids.length);
    return [];
  }, idOf);
  await users.loadMany(Array.from({ length: 1_500 }, (_, index) => String(index)));
  expect(sizes).toEqual([1_000, 500]);
});

test("keys that are equal as JSON are one key", async () => {
  const calls: unknown[] = [];
  const slices = createLoaderByKey<{ readonly userId: string; readonly limit: number }, string>(async (keys) => {
    calls.push(keys);
    return keys.map(({ userId, limit }) => `${limit} of ${userId}`);
  });
  const loads = [slices.load({ userId: "1", limit: 2 }), slices.load({ userId: "1", limit: 2 })];
  expect(await Promise.all(loads)).toEqual(["2 of 1", "2 of 1"]);
  expect(calls).toEqual([[{ userId: "1", limit: 2 }]]);
});

const schema = buildSchema(`
  type Query { letters: Letters any: Paper }
  type Letters { nodes: [Letter!]! first: Letter }
  union Paper = Letter | Person
  type Letter { id: ID! text: String by: Person }
  type Person { name: String letters: [Letter!] }
`);

test.each([
  ["{ letters { nodes { id } first { other: text } } }", true],
  ["{ letters { nodes { text: id } } }", false],
  ["{ letters { nodes { id by { name } } } }", false],
  ["{ letters { nodes { ... { text } } } }", true],
  ["{ letters { ...F } } fragment F on Letters { nodes { ...G } } fragment G on Letter { text }", true],

  ["{ letters { nodes { text @skip(if: true) } } }", true],
  ["{ letters { nodes { id } } letters { nodes { text } } }", true],
  ["{ letters { nodes { id by { letters { text } } } } }", false],
  ["{ any { ... on Letter { text } } }", true],

  ["{ any { ... on Person { letters { text } } } }", true],
])("%s selects the text of a letter: %s", async (source, expected) => {
  expect(await readAll(source)).toEqual([expected]);
});

test("fragments that spread the next one twice are each visited once", async () => {
  const levels = Array.from({ length: 30 }, (_, at) => `fragment F${at} on Letters { ...F${at + 1} ...F${at + 1} }`);
  const source = `{ letters { ...F0 } } ${levels.join(" ")} fragment F30 on Letters { nodes { id } }`;
  expect(await readAll(source)).toEqual([false]);
});

/** The result of `selectsField` for each resolved field. */
async function readAll(source: string): Promise<readonly boolean[]> {
  const results: boolean[] = [];
  const resolve = (_: unknown, _context: unknown, info: GraphQLResolveInfo) => {
    results.push(selectsField(info, "Letter", ["text"]));
    return null;
  };
  await graphql({ schema, source, rootValue: { letters: resolve, any: resolve } });
  return results;
}
