import { buildSubgraphSchema } from "@apollo/subgraph";
import { execute, GraphQLScalarType, parse } from "graphql";
import { expect, test } from "vitest";
import { createCacheRecord, recordCacheMetadata, watchIdentity } from "./cache-metadata.ts";
import { resolveEntitiesSeparately } from "./entities.ts";
import { anonymous, type Identity } from "../identity/tokens.ts";

// Which entities of a response a cache may store, and their groups.

interface Context {
  readonly identity: Identity;
}

const typeDefs = parse(`
  type Query { note: Note }
  scalar Day
  type Note @key(fields: "id") { id: ID! text: String written: Day replies: [Note] late: String mine: Boolean }
`);
const resolvers = {
  Query: { note: () => Promise.resolve({ id: "1" }) },
  Note: {
    __resolveReference: ({ id }: { readonly id: string }) =>
      Promise.resolve(id === "0" ? null : { id, text: `text ${id}` }),
    replies: () => Promise.resolve([{ id: "8" }, { id: "9" }]),
    late: ({ id }: { readonly id: string }) => (id === "2" ? Promise.resolve("late") : "early"),
    written: () => new Date(0),
    mine: (_: unknown, __: unknown, { identity }: Context) => identity.kind === "user",
  },
  Day: new GraphQLScalarType<string, string>({
    name: "Day",
    serialize: (value) => (value as Date).toISOString().slice(0, 10),
  }),
};
const schema = buildSubgraphSchema([
  {
    typeDefs,
    resolvers: recordCacheMetadata(resolvers, {
      "Query.note": () => ["note"],
      "Note.__resolveReference": ({ id }: { readonly id: string }) => [`notes:${id}`],
      "Note.replies": ({ id }: { readonly id: string }) => [`notes:to-${id}`],
    }) as never,
  },
]);
resolveEntitiesSeparately(schema);

test("each entity has the groups of its reference and of its fields, at any depth", async () => {
  const query = `{ _entities(representations: ${list("1", "2")}) { ... on Note { text replies { replies { id } } } } }`;
  const toReplies = ["notes:to-8", "notes:to-9"];
  expect(await metadataOf(query)).toEqual({
    seconds: 5,
    groups: expect.any(Array) as unknown,
    entities: {
      _entities: [
        ["notes:1", "notes:to-1", ...toReplies],
        ["notes:2", "notes:to-2", ...toReplies],
      ],
    },
  });
});

test("an undeclared promise forbids to store its entity and the whole response, but no other entity", async () => {
  const query = `{ a: _entities(representations: ${list("1", "2")}) { ... on Note { late } }
    b: _entities(representations: ${list("3")}) { ... on Note { text } } }`;
  expect(await metadataOf(query)).toEqual({
    seconds: 5,
    entities: { a: [["notes:1"], null], b: [["notes:3"]] },
  });
});

test("groups of other root fields count for the whole response only", async () => {
  const query = `{ note { text } _entities(representations: ${list("1", "0")}) { ... on Note { text } } }`;
  const entities = { _entities: [["notes:1"], ["notes:0"]] };
  expect(await metadataOf(query)).toEqual({ seconds: 5, groups: ["note", "notes:1", "notes:0"], entities });
});

test.each([
  `{ _entities(representations: ${list("1")}) { ... on Note { mine } } }`,
  `{ note { late mine } _entities(representations: ${list("1")}) { ... on Note { text } } }`,
])("a read of the identity forbids to store anything of %s", async (query) => {
  expect(await metadataOf(query)).toBeUndefined();
});

test("a scalar type among the resolvers stays as it is", async () => {
  const { data, errors } = await execute({ schema, document: parse("{ note { written } }"), contextValue: {} });
  expect(errors).toBeUndefined();
  expect(data).toEqual({ note: { written: "1970-01-01" } });
});

function list(...ids: readonly string[]): string {
  return `[${ids.map((id) => `{ __typename: "Note", id: "${id}" }`).join(", ")}]`;
}

async function metadataOf(query: string) {
  const cacheRecord = createCacheRecord({ seconds: 5, staleIfErrorSeconds: 60 });
  const identity = watchIdentity(anonymous, () => cacheRecord.forbid());
  const { errors } = await execute({ schema, document: parse(query), contextValue: { cacheRecord, identity } });
  expect(errors).toBeUndefined();
  const metadata = cacheRecord.read();
  if (metadata === undefined) return undefined;
  const { staleIfErrorSeconds, ...others } = metadata;
  expect(staleIfErrorSeconds).toBe(60);
  return others;
}
