import { readFileSync } from "node:fs";
import fc from "fast-check";
import { buildSchema, getNamedType, type GraphQLUnionType } from "graphql";
import { beforeEach, describe, expect, test } from "vitest";
import { createDice } from "../../../../gateway/test/differential/dice.ts";
import { createSelectionWriter } from "../../../../gateway/test/differential/generate-selections.ts";
import { readSubgraphs } from "../../../../supergraph/subgraphs.ts";
import { services } from "../../parts.ts";
import { failedResult, type SubgraphOperation, type SubgraphResult } from "../graphql-messages.ts";
import { createMockExecutor } from "../mock/mock-subgraph.ts";
import { buildExecutableSchema, readEntityKeys } from "../subgraph-schema.ts";
import { findLookups } from "./lookups.ts";
import { executeOnRemote } from "./remote-subgraph.ts";

const root = new URL("../../../..", import.meta.url).pathname;
const subgraphs = readSubgraphs(root, services).map(({ name, sdl = "" }) => ({ name, sdl }));
const apiSdl = readFileSync(`${root}/supergraph/api.graphql`, "utf8");

// The mocks of a subgraph and of the whole API have the same values, so a translated request must have the same result as the request itself.
describe.each(subgraphs)("requests to $name, translated for the API", ({ sdl }) => {
  const schema = buildExecutableSchema(sdl);
  const subgraph = createMockExecutor(schema, readEntityKeys(sdl));
  const remote = createRemote(
    apiSdl,
    subgraphs.map((service) => service.sdl),
    sdl,
  );
  const entities = getNamedType(schema.getQueryType()?.getFields()["_entities"]?.type) as GraphQLUnionType;
  const types = entities.getTypes().map(({ name }) => name);

  test("return the entities that the subgraph would return", async () => {
    const numbers = fc.array(fc.nat({ max: 9_999 }), { minLength: 20, maxLength: 200, size: "max" });
    const requests = fc
      .sample(numbers, { numRuns: 400, seed: 20_261 })
      .map((list) => writeEntityRequest(list))
      .filter(({ query }) => !query.includes("_Entity") && !query.includes("__schema") && !query.includes("__type("));
    expect(requests.length).toBeGreaterThan(100);
    for (const request of requests) {
      const expected = subgraph(request);
      expect(expected.errors, request.query).toEqual([]);
      const result = await remote.send(request);
      expect(plain(result), request.query).toEqual(plain(expected));
    }
  });

  function writeEntityRequest(list: readonly number[]): SubgraphOperation {
    const dice = createDice(list);
    const writer = createSelectionWriter(schema, dice, { aliases: "plain", argumentValues: {} });
    const body = writer.writeSelectionSet(entities, "", { depth: 1, nesting: 0 });
    const { definitions, variables } = writer.argumentWriter;
    const head = ["$entities: [_Any!]!", ...definitions].join(", ");
    const keys = readEntityKeys(sdl);
    const representations = Array.from({ length: 1 + dice.roll(4) }, () => {
      const __typename = dice.pick(types);
      const key = keys.get(__typename)?.[0] ?? [];
      return { __typename, ...Object.fromEntries(key.map((name) => [name, String(1 + dice.roll(3))])) };
    });
    const query = [`query (${head}) { _entities(representations: $entities) ${body} }`, ...writer.listFragments()];
    return { query: query.join("\n"), variables: { ...variables, entities: representations } };
  }
});

const subgraphSdl = `
  type Query { media(id: ID!): Media  newest: Book! }
  type Mutation { lend(id: ID!): Book }
  interface Media { id: ID! title: String! }
  type Book implements Media @key(fields: "id") { id: ID! title(upper: Boolean): String! weight: Int @external shipping: Int! @requires(fields: "weight") pages(from: Int!): [Page!] }
  type Film implements Media @key(fields: "id") { id: ID! title: String! minutes: Int! }
  type Shelf @key(fields: "room number") @key(fields: "code") { room: Int! number: Int! code: String! media: [Media!]! }
  type Page { text: String! }
  type Secret @key(fields: "id") { id: ID! value: String }
  type Nested @key(fields: "owner { id }") { owner: Owner! value: String }
  type Owner { id: ID! }
`;
const librarySdl = subgraphSdl
  .replace(
    "media(id: ID!): Media",
    "media(id: ID!): Media book(id: ID!, edition: Int = 1): Book shelf(number: Int!, room: Int!): Shelf shelves(code: String!): [Shelf]",
  )
  .replace(" @external", "");

describe("a translated request", () => {
  let remote: ReturnType<typeof createRemote>;
  beforeEach(() => void (remote = createRemote(librarySdl, [subgraphSdl], subgraphSdl)));

  test("looks up each entity once, by the arguments of the root field that has the key", async () => {
    const book = { __typename: "Book", id: "7", weight: 3 };
    const shelf = { __typename: "Shelf", room: 2, number: 5, code: "x" };
    const result = await remote.send({
      query: `query Q($representations: [_Any!]!, $key0: Int!, $unused: Int) {
        list: _entities(representations: $representations) { __typename ... on Book { a: id shipping ...Pages } ... on Shelf { room number } }
      }
      fragment Pages on Book { pages(from: $key0) { ...Text } }
      fragment Text on Page { text }
      fragment Unused on Film { minutes }`.replace("fragment Unused on Film { minutes }", ""),
      variables: { representations: [book, shelf, { ...book, weight: 4 }], key0: 1 },
    });
    expect(result.errors).toEqual([]);
    const [first, second, third] = (result.data as { list: readonly unknown[] }).list;
    expect(first).toMatchObject({ __typename: "Book", a: "7", shipping: expect.anything(), pages: expect.any(Array) });
    expect(second).toEqual({ __typename: "Shelf", room: 2, number: 5 });
    expect(third).toEqual(first);
    const [operation, ...others] = remote.sent();
    expect(others).toEqual([]);
    expect(operation?.query).toContain(
      "query Q($key0: Int!, $substitute_key0: ID!, $substitute_key1: Int!, $substitute_key2: Int!)",
    );
    expect(operation?.query).toContain("e0: book(id: $substitute_key0)");
    expect(operation?.query).toMatch(
      /e1: shelf\((?:number|room): \$substitute_key1, (?:number|room): \$substitute_key2\)/,
    );
    expect(operation?.variables).toEqual({ key0: 1, substitute_key0: "7", substitute_key1: 2, substitute_key2: 5 });
  });

  test("finds an entity by the interface that a root field returns, and null for another type", async () => {
    const titles = ["1", "2", "3", "4", "5", "6"].map((id) => ({ __typename: "Film", id }));
    const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on Film { id minutes } ... on Book { id } } }`;
    const { data, errors } = await remote.send({ query, variables: { r: titles } });
    expect(errors).toEqual([]);
    const films = (data as { _entities: readonly unknown[] })._entities;
    expect(films).toContain(null);
    expect(films.filter((film) => film !== null).length).toBeGreaterThan(0);
    for (const [index, film] of films.entries())
      if (film !== null) expect(film).toEqual({ id: String(index + 1), minutes: expect.any(Number) });
  });

  test("is null for a representation without a key, and an error names a type that has no root field", async () => {
    const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on Book { id } ... on Secret { value } ... on Nested { value } } }`;
    const representations = [
      { __typename: "Book" },
      { __typename: "Secret", id: "1" },
      { __typename: "Nested", owner: { id: "1" } },
    ];
    const { data, errors } = await remote.send({ query, variables: { r: representations } });
    expect(data).toEqual({ _entities: [null, null, null] });
    expect(errors).toMatchObject([
      {
        path: ["_entities", 1],
        message: expect.stringContaining("one Secret by its key"),
        extensions: { code: "BAD_USER_INPUT" },
      },
      { path: ["_entities", 2], message: expect.stringContaining("one Nested by its key") },
    ]);
    expect(remote.sent()).toEqual([]);
  });

  test("sends at most as many look-ups in one operation as a gateway permits, also one with lower limits", async () => {
    const r = Array.from({ length: 120 }, (_, index) => ({ __typename: "Book", id: String(index) }));
    const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on Book { id } } }`;
    const request = { query, variables: { r } };
    const books = r.map(({ id }) => ({ id }));
    expect((await remote.send(request)).data).toEqual({ _entities: books });
    const countLookUps = () => remote.sent().map(({ variables = {} }) => Object.keys(variables).length);
    expect(countLookUps().toSorted((a, b) => a - b)).toEqual([20, 50, 50]);
    remote.lookUpsMax = 20;
    expect(await remote.send(request)).toEqual({ data: { _entities: books }, errors: [] });
    const accepted = countLookUps().filter((count) => count <= 20);
    expect(accepted.reduce((sum, count) => sum + count)).toBe(120);
  });

  test("sends root fields beside entities, and several lists of entities", async () => {
    const query = `query ($r: [_Any!]!, $id: ID!) {
      media(id: $id) { id } a: _entities(representations: $r) { ... on Book { id } } b: _entities(representations: $r) { ... on Book { a: id } } }`;
    const { data, errors } = await remote.send({ query, variables: { r: [{ __typename: "Book", id: "7" }], id: "3" } });
    expect([data, errors]).toEqual([{ media: { id: "3" }, a: [{ id: "7" }], b: [{ a: "7" }] }, []]);
  });

  test("maps the errors of look-ups back to their entities", async () => {
    const r = ["1", "2", "1"].map((id) => ({ __typename: "Book", id }));
    const request = {
      query: `query ($r: [_Any!]!) { _entities(representations: $r) { ... on Book { title } } }`,
      variables: { r },
    };
    const extensions = { code: "FORBIDDEN" };
    const merge = (result: SubgraphResult) =>
      executeOnRemote(request, { ...remote.options, send: () => Promise.resolve(result) });
    expect(
      await merge({
        data: { e0: null, e1: { title: "b", substitute_typename: "Book" } },
        errors: [{ message: "No.", path: ["e0", "title"], extensions }],
      }),
    ).toEqual({
      data: { _entities: [null, { title: "b" }, null] },
      errors: [
        { message: "No.", path: ["_entities", 0, "title"], extensions },
        { message: "No.", path: ["_entities", 2, "title"], extensions },
      ],
    });
    const { errors } = await merge({ data: null, errors: [{ message: "Down.", extensions }] });
    expect(errors.map(({ path }) => path)).toEqual([
      ["_entities", 0],
      ["_entities", 1],
      ["_entities", 2],
    ]);
  });

  test.each([
    ["book(bookId: ID!): Book", "book"],
    ["book(id: ID!, library: ID!): Book  old(id: ID!, edition: Int): Book", "old"],
    ["book(isbn: ID!): Book  books(id: ID!): [Book]", undefined],
  ])("has for the API { %s } the root field %s", (fields, expected) => {
    const api = buildSchema(`type Query { ${fields} } type Book { id: ID! }`);
    const lookups = findLookups(api, new Map([["Book", [["id"]]]]));
    expect(lookups.get("Book")?.map(({ field }) => field)).toEqual(expected === undefined ? [] : [expected]);
  });

  test("forwards root fields and mutations as they are", async () => {
    const query = { query: "query A($id: ID!) { media(id: $id) { id } }", variables: { id: "1" }, operationName: "A" };
    const mutation = { query: 'mutation { lend(id: "1") { id } }', variables: {} };
    for (const request of [query, mutation]) {
      expect((await remote.send(request)).errors).toEqual([]);
      expect(remote.sent()).toEqual([request]);
    }
  });
});

/** The API of a remote, executed in this process. */
function createRemote(sdl: string, subgraphs: readonly string[], subgraphSdl: string) {
  const api = buildSchema(sdl, { assumeValidSDL: true });
  const keys = new Map(subgraphs.flatMap((text) => [...readEntityKeys(text)]));
  const execute = createMockExecutor(api, keys);
  const options = { api, lookups: findLookups(api, readEntityKeys(subgraphSdl)) };
  const sent: SubgraphOperation[] = [];
  const remote = {
    options,
    lookUpsMax: 50,
    sent: () => sent.splice(0),
    send: (request: SubgraphOperation) => executeOnRemote(request, { ...options, send: respond }),
  };
  async function respond(operation: SubgraphOperation): Promise<SubgraphResult> {
    sent.push(operation);
    const isTooLarge = Object.keys(operation.variables ?? {}).length > remote.lookUpsMax;
    return isTooLarge ? failedResult("ROOT_FIELD_LIMIT_EXCEEDED", "Too many root fields.") : execute(operation);
  }
  return remote;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
