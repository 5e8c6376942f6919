import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

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
