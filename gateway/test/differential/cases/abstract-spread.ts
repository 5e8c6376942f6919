import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const nodes = [
  { __typename: "User", id: "1", name: "Ada", age: 36 },
  { __typename: "Bot", id: "2", name: "Eliza", model: "doctor" },
];
const rooms = [{ id: "r", members: nodes, last: nodes[1] }];
const stubs = nodes.map(({ __typename, id }) => ({ __typename, id }));

/** An interface and a union over entities whose fields are spread over two subgraphs. */
export const abstractSpread: SupergraphCase = {
  name: "abstract-spread",
  subgraphs: [
    {
      name: "rooms",
      typeDefs: `
        type Query { rooms: [Room!] }
        type Room { id: ID! members: [Actor!] last: Speaker }
        interface Actor { id: ID! }
        union Speaker = User | Bot
        type User implements Actor @key(fields: "id") { id: ID! }
        type Bot implements Actor @key(fields: "id") { id: ID! }
      `,
      resolvers: { Query: { rooms: () => [{ id: "r", members: stubs, last: stubs[1] }] } },
    },
    {
      name: "actors",
      typeDefs: `
        type Query { actors: [Actor] }
        interface Actor { id: ID! name: String }
        type User implements Actor @key(fields: "id") { id: ID! name: String age: Int }
        type Bot implements Actor @key(fields: "id") { id: ID! name: String model: String }
      `,
      resolvers: {
        Query: { actors: () => [...nodes, null] },
        User: { __resolveReference: findIn(nodes, "id") },
        Bot: { __resolveReference: findIn(nodes, "id") },
      },
    },
  ],
  monolith: { Query: { rooms: () => rooms, actors: () => [...nodes, null] } },
  cases: [
    {
      name: "a field of the interface that one subgraph does not have is fetched for each type",
      query: "{ rooms { members { name } } }",
      expected: { data: { rooms: [{ members: [{ name: "Ada" }, { name: "Eliza" }] }] } },
    },
    {
      name: "one response name for fields of two types is each type's own",
      query: "{ rooms { members { __typename ... on User { id x: name } ... on Bot { x: model } } } }",
      expected: {
        data: {
          rooms: [
            {
              members: [
                { __typename: "User", id: "1", x: "Ada" },
                { __typename: "Bot", x: "doctor" },
              ],
            },
          ],
        },
      },
    },
    {
      name: "a member of the union is read through the interface",
      query: "{ rooms { last { ... on Actor { name } ... on Bot { model } } } actors { id } }",
      expected: {
        data: { rooms: [{ last: { name: "Eliza", model: "doctor" } }], actors: [{ id: "1" }, { id: "2" }, null] },
      },
    },
  ],
};
