import { readFileSync } from "node:fs";
import fc from "fast-check";
import {
  execute,
  type GraphQLResolveInfo,
  type GraphQLScalarType,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  type SelectionSetNode,
  visit,
} from "graphql";
import { describe, expect, test } from "vitest";
import { generateOperations } from "../../../../gateway/test/differential/generate-operations.ts";
import type { Operation } from "../../../../gateway/test/differential/operation.ts";
import { readSubgraphs } from "../../../../supergraph/subgraphs.ts";
import { services } from "../../parts.ts";
import type { SubgraphResult } from "../graphql-messages.ts";
import { buildExecutableSchema, readEntityKeys } from "../subgraph-schema.ts";
import { createMockExecutor } from "./mock-subgraph.ts";

const root = new URL("../../../..", import.meta.url).pathname;
const subgraphs = readSubgraphs(root, services).map(({ name, sdl = "" }) => ({ name, sdl }));
const operationCount = Math.ceil(1_000 / (subgraphs.length + 1));

const representations = ["User", "Post", "Comment", "Order", "Nothing"].flatMap((__typename) => [
  { __typename, id: "7" },
  { __typename, id: "x" },
  { __typename },
]);
const cursor = Buffer.from("mock:1").toString("base64url");
const argumentValues = { representations, DateTime: ["2026-01-31T09:30:00.000Z"], after: [cursor, "x"] };

/** With the features of GraphQL that the services do not use. */
const librarySdl = `
  type Query { media(id: ID!): Media search(text: String!): [Result!]! shelf(at: [Int!]!): Shelf! books: BookConnection! }
  type Mutation { lend(input: LendInput!): LendPayload! rename(id: ID!, title: String!): Book }
  interface Media @key(fields: "id") { id: ID! title: String! price: Float! }
  type Book implements Media @key(fields: "id") @key(fields: "isbn") { id: ID! isbn: String! title: String! price: Float! shelf: Shelf }
  type Film implements Media @key(fields: "id") { id: ID! title: String! price: Float! minutes: Int! kind: Kind! }
  type Shelf @key(fields: "room number") { room: Int! number: Int! media: [[Media!]!]! labels: [String] }
  union Result = Book | Film | Shelf
  enum Kind { SHORT LONG }
  scalar Odd
  type BookConnection { edges: [BookEdge!]! pageInfo: PageInfo! totalCount: Int! odd: Odd! }
  type BookEdge { cursor: String! node: Book! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  input LendInput { id: ID! title: String kind: Kind }
  type LendPayload { book: Book! film: Film errors: [String!]! }
`;

describe.each([...subgraphs, { name: "a library", sdl: librarySdl }])("the mock of $name", ({ sdl }) => {
  const schema = buildExecutableSchema(sdl);
  const mock = createMockExecutor(schema, readEntityKeys(sdl));

  test(`responds to ${operationCount} generated operations with valid values, and to each in any order with the same bytes`, () => {
    const operations = fc.sample(generateOperations(schema, { aliases: "plain", argumentValues }), {
      numRuns: operationCount,
      seed: 20_261,
    });
    const requests = operations.map(({ query, variables, ...others }) => ({
      ...others,
      query: withTypenames(query),
      variables: { ...variables },
    }));
    const responses = requests.map((request) => {
      const result = mock(request);
      expect(result.errors, request.query).toEqual([]);
      expect(readBack(schema, request, result)).toEqual({ data: result.data });
      return JSON.stringify(result);
    });
    const other = createMockExecutor(buildExecutableSchema(sdl), readEntityKeys(sdl));
    const responsesInReverse = requests.toReversed().map((request) => JSON.stringify(other(request)));
    expect(responsesInReverse.toReversed()).toEqual(responses);
  });
});

describe("a mock", () => {
  const mock = createMockExecutor(buildExecutableSchema(librarySdl), readEntityKeys(librarySdl));
  const query = (text: string, variables = {}) => {
    const { data, errors } = mock({ query: text, variables });
    expect(errors).toEqual([]);
    return JSON.parse(JSON.stringify(data));
  };

  test("has the requested key, and the same fields for the same key however it is reached", () => {
    const byEntity = query(
      `query ($r: [_Any!]!) { _entities(representations: $r) { ... on Film { id title minutes kind } } }`,
      {
        r: [
          { __typename: "Film", id: "7" },
          { __typename: "Film", id: "7" },
          { __typename: "Film" },
          { __typename: "Nothing" },
        ],
      },
    )._entities;
    expect(byEntity[0]).toMatchObject({ id: "7", title: expect.any(String) });
    expect(byEntity).toEqual([byEntity[0], byEntity[0], null, null]);
    const { lend } = query(`mutation { lend(input: { id: "7" }) { film { id title minutes kind } } }`);
    expect(lend.film).toEqual(byEntity[0]);
    const { media } = query(`{ media(id: "9") { __typename id title } }`);
    const again = query(`{ media(id: "9") { price __typename id title } }`).media;
    expect(again).toMatchObject(media);
    expect(media.id).toBe("9");
    const byInterface = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on Media { __typename id title } } }`;
    expect(query(byInterface, { r: [{ __typename: "Media", id: "9" }] })._entities).toEqual([media]);
  });

  test("uses the values of a representation, such as those for @requires", () => {
    const representation = { __typename: "Book", id: "7", title: "Emma", shelf: { room: 2, number: 3 } };
    const { _entities } = query(
      `query ($r: [_Any!]!) { _entities(representations: $r) { ... on Book { title shelf { room number } } } }`,
      {
        r: [representation],
      },
    );
    expect(_entities).toEqual([{ title: "Emma", shelf: { room: 2, number: 3 } }]);
  });

  test("returns the input of a mutation in its payload, without errors", () => {
    const { lend, rename } = query(
      `mutation { lend(input: { id: "5", title: "Emma", kind: LONG }) { book { id title } film { id title kind } errors } rename(id: "6", title: "Persuasion") { id title } }`,
    );
    expect(lend).toEqual({
      book: { id: "5", title: "Emma" },
      film: { id: "5", title: "Emma", kind: "LONG" },
      errors: [],
    });
    expect(rename).toEqual({ id: "6", title: "Persuasion" });
  });

  test("pages through a connection: each item once, and pageInfo as the edges say", () => {
    const page = (argumentsText: string) =>
      query(
        `{ books${argumentsText} { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`,
      ).books;
    const all = page("");
    expect(all.pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: all.edges[0].cursor,
      endCursor: all.edges.at(-1).cursor,
    });
    expect(all.totalCount).toBe(all.edges.length);
    expect(new Set(all.edges.map((edge: { node: { id: string } }) => edge.node.id)).size).toBe(all.edges.length);
  });

  test("limits the items of one response", () => {
    const media = (depth: number): string =>
      depth === 0 ? "id" : `... on Book { shelf { media { ${media(depth - 1)} } } }`;
    const text = JSON.stringify(query(`{ search(text: "x") { ${media(9)} } }`));
    expect(text.length).toBeLessThan(200_000);
  });

  test("reports an invalid document as a subgraph does", () => {
    expect(mock({ query: "{ nothing }", variables: {} })).toMatchObject({
      data: null,
      errors: [{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }],
    });
  });
});

test("the page of a connection continues after its cursor", () => {
  const sdl = readFileSync(`${root}/services/orders/schema.graphql`, "utf8");
  const mock = createMockExecutor(buildExecutableSchema(sdl), readEntityKeys(sdl));
  const fields = "nodes { sku } edges { cursor node { sku } } pageInfo { hasNextPage hasPreviousPage endCursor }";
  const query = `query ($after: String) { products(first: 2, after: $after) { ${fields} } }`;
  const read = (after: string | null) => JSON.parse(JSON.stringify(mock({ query, variables: { after } }).data));
  const skus: string[] = [];
  let after: string | null = null;
  for (let page; page?.pageInfo.hasNextPage !== false && skus.length < 100; after = page.pageInfo.endCursor) {
    page = read(after).products;
    expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
    expect(page.edges.map((edge: { node: unknown }) => edge.node)).toEqual(page.nodes);
    skus.push(...page.nodes.map(({ sku }: { sku: string }) => sku));
  }
  expect(skus.length).toBeGreaterThan(2);
  expect(new Set(skus).size).toBe(skus.length);
});

const typenameAlias = "checked_typename";

/** Selects the type of each object, so that the response can be read back. */
function withTypenames(query: string): string {
  const typename = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: "__typename" } } as const;
  const field = { ...typename, alias: { kind: Kind.NAME, value: typenameAlias } } as const;
  return print(
    visit(parse(query), {
      SelectionSet: (node: SelectionSetNode) => ({ ...node, selections: [...node.selections, field] }),
    }),
  );
}

/** Executes the operation on its own response: every value must have the type of its field. */
function readBack(
  schema: GraphQLSchema,
  operation: Operation & { readonly variables: object },
  { data }: SubgraphResult,
): unknown {
  const dateTime = schema.getType("DateTime") as GraphQLScalarType | undefined;
  if (dateTime) dateTime.serialize = requireInstant;
  const result = execute({
    ...{ schema, document: parse(operation.query), rootValue: data, operationName: operation.operationName ?? null },
    variableValues: { ...operation.variables },
    fieldResolver: (source: Record<string, unknown>, _args, _context, info: GraphQLResolveInfo) =>
      source[info.path.key],
    typeResolver: (value) => (value as Record<string, string>)[typenameAlias],
  });
  return JSON.parse(JSON.stringify(result));
}

function requireInstant(value: unknown): unknown {
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return value;
  throw new Error(`No instant: ${String(value)}`);
}
