import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const rooms = [
  { id: "1", code: "x", rate: { id: "9", net: 80, terms: "none" } },
  { id: "2", code: "y", rate: { id: "8", net: 0, terms: "all" } },
];
const taxes = [{ id: "9", tax: 8 }];

/** Parts of a value that is not an entity: each subgraph resolves some, and is fetched by a key of the parent entity. */
export const valuesBelowEntities: SupergraphCase = {
  name: "values-below-entities",
  subgraphs: [
    {
      name: "rooms",
      typeDefs: `
        type Query { rooms: [Room!] }
        type Room @key(fields: "id") @key(fields: "id code") { id: ID! code: ID! }
      `,
      resolvers: { Query: { rooms: () => rooms }, Room: { __resolveReference: findIn(rooms, "id") } },
    },
    {
      name: "rates",
      typeDefs: `
        type Room @key(fields: "id code") { id: ID! code: ID! rate: Rate @shareable }
        type Rate { id: ID! @shareable net: Int }
      `,
      resolvers: { Room: { __resolveReference: findIn(rooms, "id", "code") } },
    },
    {
      name: "law",
      typeDefs: `
        type Room @key(fields: "id") { id: ID! rate: Rate @shareable }
        type Rate { terms: String }
      `,
      resolvers: { Room: { __resolveReference: findIn(rooms, "id") } },
    },
    {
      name: "taxes",
      typeDefs: `type Rate @key(fields: "id") { id: ID! tax: Int }`,
      resolvers: { Rate: { __resolveReference: findIn(taxes, "id") } },
    },
  ],
  monolith: {
    Query: { rooms: () => rooms },
    Rate: { tax: ({ id }: { id: string }) => taxes.find((one) => one.id === id)?.tax },
  },
  stockDiffers: { colliding: "an alias with the name of a key is taken for the key" },
  cases: [
    {
      name: "parts of one value come from two subgraphs that are entered by other keys",
      query: "{ rooms { rate { net terms } } }",
      expected: {
        data: { rooms: [{ rate: { net: 80, terms: "none" } }, { rate: { net: 0, terms: "all" } }] },
      },
    },
    {
      name: "a part of the value is the key to a subgraph in which it is an entity",
      query: "{ rooms { id rate { tax terms } } }",
      expected: {
        data: {
          rooms: [
            { id: "1", rate: { tax: 8, terms: "none" } },
            { id: "2", rate: { tax: null, terms: "all" } },
          ],
        },
      },
    },
  ],
};
