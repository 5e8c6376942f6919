import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { startMaze, writeHeavyOperation } from "./helpers/maze.ts";
import { type RunningSubgraph, composeSupergraph, startSubgraph } from "./helpers/subgraphs.ts";

describe("complex operations", () => {
  let maze: readonly RunningSubgraph[];
  let gateway: RunningGateway;

  beforeAll(async () => {
    maze = await startMaze();
    gateway = await startGateway({ supergraphSdl: composeSupergraph(maze) });
  });
  afterAll(async () => {
    await gateway.drain();
    await Promise.all(maze.map((subgraph) => subgraph.close()));
  });

  test("an operation with many possible plans is planned", async () => {
    const { body } = await gateway.send(writeHeavyOperation(0, 2));
    expect(body.errors).toBeUndefined();
    expect(body.data.a0.next.next).toEqual({ north: 1, east: 1, south: 1, west: 1 });
  });

  test("an operation with too many possible plans is rejected, and no planner thread is replaced", async () => {
    for (const depth of [3, 4, 8]) {
      const { body } = await gateway.send(writeHeavyOperation(0, depth));
      expect(body.errors).toMatchObject([{ extensions: { code: "OPERATION_TOO_COMPLEX" } }]);
    }
    expect(gateway.observations.filter(({ kind }) => kind === "planner-replaced")).toEqual([]);
  });
});

describe("unresolvable fields", () => {
  let subgraphs: readonly RunningSubgraph[];
  let gateway: RunningGateway;

  /** Composes, although a parcel's number is external in both subgraphs and no type implements the interface Depot. */
  beforeAll(async () => {
    const parcel = { __typename: "Parcel", number: "1" };
    subgraphs = await Promise.all([
      startSubgraph({
        name: "post",
        typeDefs: `
        type Query { find: Item @shareable depot: Depot }
        interface Item { number: ID! }
        interface Depot @key(fields: "id") { id: ID! }
        type Parcel implements Item @key(fields: "number") { number: ID! @external grams: Int }
        type Letter implements Item @key(fields: "number") { number: ID! pages: Int }
      `,
        resolvers: { Query: { find: () => parcel, depot: () => null } },
      }),
      startSubgraph({
        name: "rail",
        typeDefs: `
        type Query { find: Item @shareable }
        interface Item { number: ID! }
        type Depot @key(fields: "id", resolvable: false) @interfaceObject { id: ID! tracks: Int }
        type Parcel implements Item @key(fields: "number") { number: ID! wagon: Int }
        type Letter implements Item @key(fields: "number") { number: ID! @external bag: Int }
      `,
        resolvers: { Query: { find: () => parcel } },
      }),
    ]);
    gateway = await startGateway({ supergraphSdl: composeSupergraph(subgraphs) });
  });
  afterAll(async () => {
    await gateway.drain();
    await Promise.all(subgraphs.map((subgraph) => subgraph.close()));
  });

  test.each(["{ find { number } }", "{ find { number } other: find { __typename } }", "{ depot { tracks } }"])(
    "%s is rejected and not fetched: no service provides a part of it",
    async (query) => {
      const { body } = await gateway.send(query);
      expect(body).toEqual({
        errors: [
          {
            message: "No service provides a part of this operation.",
            extensions: { code: "OPERATION_NOT_RESOLVABLE" },
          },
        ],
      });
      expect(subgraphs.flatMap(({ requests }) => requests)).toEqual([]);
    },
  );

  test("resolvable fields of the same types have data", async () => {
    const { body } = await gateway.send("{ find { __typename ... on Letter { number } } depot { id } }");
    expect(body).toEqual({ data: { find: { __typename: "Parcel" }, depot: null } });
  });
});

describe("executable directives", () => {
  // @apollo/composition leaves directives of these two names out of the supergraph without a message; other composers keep them.
  const definitions = `
  directive @stream(every: Int! = 2, tags: [String]) on FIELD | QUERY
  directive @defer(why: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT | FIELD`;

  test("a subgraph's own @stream and @defer are valid and are forwarded as the client wrote them", async () => {
    const feed = await startSubgraph({
      name: "feed",
      typeDefs: `${definitions} type Query { posts: [Post] } type Post { title: String likes(over: String): Int }`,
      resolvers: { Query: { posts: () => [{ title: "Engines", likes: 3 }] } },
    });
    const gateway = await startGateway({ supergraphSdl: composeSupergraph([feed]) + definitions });
    const query = `query ($why: String) @stream(every: 1) {
    posts @stream { ...Title @defer(why: $why) ... @defer(why: "@d_stream") { likes(over: "@stream") @defer } }
  } fragment Title on Post { title }`;
    for (const isFast of [false, true]) {
      const { body } = await gateway.send(query, { variables: { why: "late" } });
      expect(body).toEqual({ data: { posts: [{ title: "Engines", likes: 3 }] } });
      expect(gateway.tookFastPath()).toBe(isFast);
    }
    expect(feed.requests[0]?.body).toEqual({
      query:
        'query($why:String)@stream(every:1){posts@stream(every:2){...on Post@defer(why:$why){title}...@defer(why:"@d_stream"){likes(over:"@stream")@defer}}}',
      variables: { why: "late" },
    });
    expect((await gateway.send("{ posts @stream(every: null) { title } }")).body.errors[0].extensions.code).toBe(
      "GRAPHQL_VALIDATION_FAILED",
    );
    await gateway.drain();
    await feed.close();
  });

  test("a subgraph's definition with an argument `if` means incremental delivery, which is not forwarded", async () => {
    const feed = await startSubgraph({
      name: "feed",
      typeDefs: "type Query { posts: [Post] } type Post { title: String }",
      resolvers: { Query: { posts: () => [{ title: "Engines" }] } },
    });
    const definition = " directive @defer(if: Boolean, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT";
    const gateway = await startGateway({ supergraphSdl: composeSupergraph([feed]) + definition });
    const { body } = await gateway.send("{ posts @stream { ... @defer(if: null) { title } } }");
    expect(body.data).toEqual({ posts: [{ title: "Engines" }] });
    expect(feed.requests[0]?.body).toEqual({ query: "{posts{title}}" });
    await gateway.drain();
    await feed.close();
  });
});
