// A nullable variable with a default may be used where the schema expects a non-null value. If the client sends null, the field is an error (GraphQL
// spec, "Coercing Field Arguments").
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

let posts: RunningSubgraph;
let stars: RunningSubgraph;
let gateway: RunningGateway;
const written: string[] = [];

beforeAll(async () => {
  posts = await startSubgraph({
    name: "posts",
    typeDefs: `
      directive @tone(name: String!) on FIELD | QUERY
      extend schema @link(url: "https://example.com/tone/v1.0", import: ["@tone"]) @composeDirective(name: "@tone")
      type Query {
        post(id: ID!): Post sure(id: ID! = "1"): Post! find(where: Where): [Post] among(ids: [ID!]!): [Post] first: Post posts: [Post]
      }
      input Where { id: ID! rank: Int! = 1 }
      type Mutation { keep(id: ID!): ID must(id: ID!): ID! }
      type Post @key(fields: "id") { id: ID! text(length: Int!): String body(length: Int!): String! next: Post }
    `,
    resolvers: {
      Query: {
        post: (_: unknown, { id }: { id: string }) => ({ id }),
        sure: (_: unknown, { id }: { id: string }) => ({ id }),
        find: () => [],
        among: () => [],
        first: () => ({ id: "1", next: { id: "2" } }),
        posts: () => [{ id: "1" }, { id: "2" }],
      },
      Post: { text: () => "text", body: () => "body" },
      Mutation: {
        keep: (_: unknown, { id }: { id: string }) => (written.push(id), id),
        must: (_: unknown, { id }: { id: string }) => (written.push(id), id),
      },
    },
  });
  stars = await startSubgraph({
    name: "stars",
    typeDefs: 'type Query { one: Int } type Post @key(fields: "id") { id: ID! stars(of: Int!): Int sign: String }',
    resolvers: { Query: { one: () => 1 }, Post: { stars: () => 5, sign: () => "*" } },
  });
  gateway = await startGateway({ supergraphSdl: composeSupergraph([posts, stars]) });
});
afterAll(async () => {
  await gateway.drain();
  await Promise.all([posts, stars].map((subgraph) => subgraph.close()));
});
beforeEach(() => {
  posts.requests.length = 0;
  stars.requests.length = 0;
  written.length = 0;
  gateway.observations.length = 0;
});

describe("a null in a non-null argument", () => {
  test.each([
    ["an argument", 'query ($i: ID = "x") { post(id: $i) { id } }', { post: null }],
    ["an argument with a default", "query ($i: ID) { post: sure(id: $i) { id } }", null],
    ["a variable whose default is null", "query ($i: ID = null) { post: sure(id: $i) { id } }", null],
    ["a field of an input object", 'query ($i: ID = "x") { post: find(where: { id: $i }) { id } }', { post: null }],
    ["one with a default", "query ($i: Int) { post: find(where: { id: 1, rank: $i }) { id } }", { post: null }],
    ["an element of a list", 'query ($i: ID = "x") { post: among(ids: [1, $i]) { id } }', { post: null }],
    ["a list", 'query ($i: [ID!] = ["x"]) { post: among(ids: $i) { id } }', { post: null }],
    ["an introspection field", 'query ($i: String = "x") { post: __type(name: $i) { name } }', { post: null }],
    ["a fragment", 'query ($i: ID = "x") { ...F } fragment F on Query { post(id: $i) { id } }', { post: null }],
  ])("is an error of the field, and nothing is sent: %s", async (_, query, data) => {
    for (const isCached of [false, true]) {
      const { status, body } = await gateway.send(query, { variables: { i: null } });
      expect(status).toBe(200);
      expect(body).toEqual({ data, errors: [badInput("post")] });
      expect(gateway.tookFastPath()).toBe(isCached);
    }
    expect(posts.requests).toEqual([]);
    expect(gateway.observations.filter(({ kind }) => kind === "values-rejected")).toEqual([]);
  });

  test("leaves the other fields, and other values of the variable, as they are", async () => {
    const query = 'query ($i: ID = "x") { post(id: $i) { id } first { id } __typename }';
    const others = { first: { id: "1" }, __typename: "Query" };
    const send = async (variables: object) => (await gateway.send(query, { variables })).body;
    expect(await send({ i: null })).toEqual({ data: { post: null, ...others }, errors: [badInput("post")] });
    expect(await send({})).toEqual({ data: { post: { id: "x" }, ...others } });
    expect(await send({ i: "y" })).toEqual({ data: { post: { id: "y" }, ...others } });
  });

  test("is an error at each object, and propagates as the type of the field requires", async () => {
    const query = "query ($i: Int = 1) { posts { id text(length: $i) } first { next { body(length: $i) } } }";
    const { body } = await gateway.send(query, { variables: { i: null } });
    expect(body).toEqual({
      data: {
        posts: [
          { id: "1", text: null },
          { id: "2", text: null },
        ],
        first: { next: null },
      },
      errors: [badInput("posts", 0, "text"), badInput("posts", 1, "text"), badInput("first", "next", "body")],
    });
    expect(posts.requests[0]?.body.query).not.toMatch(/text|body/);
  });

  test("in a field of another subgraph sends nothing to it for this field", async () => {
    const alone = "query ($i: Int = 1) { first { stars(of: $i) } }";
    const response = await gateway.send(alone, { variables: { i: null } });
    expect(response.body).toEqual({ data: { first: { stars: null } }, errors: [badInput("first", "stars")] });
    expect(stars.requests).toEqual([]);
    const beside = "query ($i: Int = 1) { first { stars(of: $i) sign } }";
    const { body } = await gateway.send(beside, { variables: { i: null } });
    expect(body).toEqual({ data: { first: { stars: null, sign: "*" } }, errors: [badInput("first", "stars")] });
  });

  test("in a field that no object has is no error", async () => {
    const query = "query ($i: Int = 1) { first { next { next { text(length: $i) } } } }";
    expect((await gateway.send(query, { variables: { i: null } })).body).toEqual({
      data: { first: { next: { next: null } } },
    });
  });

  test("of a mutation leaves its other fields, unless the null propagates to data: then no later field is executed", async () => {
    const nullable = 'mutation ($i: ID = "x") { a: keep(id: 1) post: keep(id: $i) b: keep(id: 2) }';
    expect((await gateway.send(nullable, { variables: { i: null } })).body).toEqual({
      data: { a: "1", post: null, b: "2" },
      errors: [badInput("post")],
    });
    const required = 'mutation ($i: ID = "x") { a: keep(id: 3) post: must(id: $i) b: keep(id: 4) }';
    expect((await gateway.send(required, { variables: { i: null } })).body).toEqual({
      data: null,
      errors: [badInput("post")],
    });
    expect(new Set(written)).toEqual(new Set(["1", "2", "3"]));
  });

  test.each(["{ first { id @tone(name: $i) } }", "@tone(name: $i) { first { id } }"])(
    "of a directive rejects the request: %s",
    async (operation) => {
      const { body } = await gateway.send(`query ($i: String = "x") ${operation}`, { variables: { i: null } });
      expect(body).toEqual({
        errors: [{ message: "An argument of @tone must not be null.", extensions: { code: "BAD_USER_INPUT" } }],
      });
      expect(posts.requests).toEqual([]);
    },
  );
});

function badInput(...path: readonly (string | number)[]) {
  const message = "A variable of this field is null where the schema expects a value.";
  return { message, path, extensions: { code: "BAD_USER_INPUT" } };
}
