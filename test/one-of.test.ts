import { getIntrospectionQuery } from "graphql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../gateway/test/helpers/gateway.ts";
import { type RunningSubgraph, startSubgraph } from "../gateway/test/helpers/subgraphs.ts";
import { composeSubgraphs } from "../supergraph/compose.ts";

const header = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.15", import: ["@key"])\n';
const by = "input By @oneOf { id: ID name: String inner: By }\n";

interface Book {
  readonly id: string;
}

let subgraphs: readonly RunningSubgraph[];
let supergraphSdl: string;

beforeAll(async () => {
  const books = await startSubgraph({
    name: "books",
    header,
    typeDefs: `type Query { book(by: By!): Book count(by: [By!]! = [{ id: "1" }]): Int }
    type Book @key(fields: "id") { id: ID! }\n${by}`,
    resolvers: {
      Query: {
        book: (_: unknown, args: { readonly by: object }) => ({ id: JSON.stringify(args.by) }),
        count: (_: unknown, args: { readonly by: readonly object[] }) => args.by.length,
      },
    },
  });
  const reviews = await startSubgraph({
    name: "reviews",
    header,
    typeDefs: `type Book @key(fields: "id") { id: ID! reviews(by: By): String }\n${by}`,
    resolvers: { Book: { reviews: ({ id }: Book, args: object) => `${id} ${JSON.stringify(args)}` } },
  });
  subgraphs = [books, reviews];
  const sources = subgraphs.map(({ name, url, typeDefs }) => {
    return { name, url, folder: name, owner: "@tributary/team", file: `${name}/schema.graphql`, sdl: typeDefs };
  });
  const composed = composeSubgraphs(sources);
  if (!composed.ok) throw new Error(JSON.stringify(composed.errors));
  ({ supergraphSdl } = composed);
});
afterAll(() => Promise.all(subgraphs.map((subgraph) => subgraph.close())));

describe.each([
  ["that this repository composed", (sdl: string) => sdl],
  [
    "that links the directive",
    (sdl: string) =>
      sdl.replace("\nschema\n", `$&  @link(url: "https://example.com/oneOf/v1.0", import: ["@oneOf"])\n`),
  ],
  ["without a definition of @oneOf", (sdl: string) => sdl.replace("directive @oneOf on INPUT_OBJECT", "")],
])("a supergraph %s", (_, edit) => {
  let gateway: RunningGateway;

  beforeAll(async () => {
    gateway = await startGateway({ supergraphSdl: edit(supergraphSdl), environment: { INTROSPECTION: "true" } });
  });
  afterAll(() => gateway.drain());

  test("introspection says which inputs are @oneOf", async () => {
    const standard = await gateway.send(getIntrospectionQuery({ oneOf: true }));
    expect(standard.body.data.__schema.types.find(({ name }: { name: string }) => name === "By").isOneOf).toBe(true);
    const selected = await gateway.send(`{ __type(name: "By") { isOneOf } }`);
    expect(selected.body).toEqual({ data: { __type: { isOneOf: true } } });
  });

  test.each([
    [`{ book(by: { id: "1" }) { id } }`, {}, { book: { id: '{"id":"1"}' } }],
    [`query ($by: By!) { book(by: $by) { id } }`, { by: { name: "a" } }, { book: { id: '{"name":"a"}' } }],
    [`query ($id: ID!) { book(by: { id: $id }) { id } }`, { id: "2" }, { book: { id: '{"id":"2"}' } }],
    [
      `query ($by: By) { book(by: { id: "1" }) { reviews(by: $by) } }`,
      { by: { inner: { name: "b" } } },
      { book: { reviews: '{"id":"1"} {"by":{"inner":{"name":"b"}}}' } },
    ],
    ["{ count }", {}, { count: 1 }],
  ])("the subgraph gets the value of %s %j", async (query, variables, data) => {
    expect((await gateway.send(query, { variables })).body).toEqual({ data });
    expect((await gateway.send(query, { variables })).body).toEqual({ data });
    expect(gateway.tookFastPath()).toBe(true);
  });

  test.each([
    [`{ book(by: { id: "1", name: "a" }) { id } }`, 'OneOf Input Object "By" must specify exactly one key.'],
    ["{ book(by: {}) { id } }", 'OneOf Input Object "By" must specify exactly one key.'],
    ["{ book(by: { id: null }) { id } }", 'Field "By.id" must be non-null.'],
    [
      "query ($id: ID) { book(by: { id: $id }) { id } }",
      'Variable "$id" must be non-nullable to be used for OneOf Input Object "By".',
    ],
    [
      'query ($id: ID) { book(by: { id: "1" }) { reviews(by: { id: $id }) } }',
      'Variable "$id" is of type "ID" but must be non-nullable to be used for OneOf Input Object "By".',
    ],
  ])("the wrong literal of %s is rejected", async (query, message) => {
    const { body } = await gateway.send(query, { variables: { id: "1" } });
    expect(body.errors).toMatchObject([{ message, extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }]);
  });

  test.each([
    [{ id: "1", name: "a" }, 'at "by[1]"'],
    [{}, 'at "by[1]"'],
    [{ id: null }, 'at "by[1].id"'],
    [{ inner: { id: "1", name: null } }, 'at "by[1].inner"'],
  ])("the wrong variable %j is rejected with its path, on both paths", async (value, path) => {
    const query = "query ($by: [By!]!) { count(by: $by) }";
    const variables = { by: [{ id: "1" }, value] };
    await gateway.send(query, { variables: { by: [{ id: "1" }] } });
    const fast = await gateway.send(query, { variables });
    expect(gateway.tookFastPath()).toBe(true);
    expect(fast.body.errors).toMatchObject([
      { message: expect.stringContaining(path), extensions: { code: "BAD_USER_INPUT" } },
    ]);
    const full = await gateway.send(`${query} # ${path}${JSON.stringify(value)}`, { variables });
    expect(gateway.tookFastPath()).toBe(false);
    expect(full.body).toEqual(fast.body);
  });

  test("subgraphs get valid documents only", () => {
    expect(subgraphs.flatMap(({ invalidDocuments }) => invalidDocuments)).toEqual([]);
  });
});
