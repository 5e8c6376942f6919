import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const kettle = { __typename: "Kettle", id: "k", years: 3 };
const stove = { __typename: "Stove", id: "s" };
const things = [stove, kettle];
const yearsOfStove = () => 1;

/** A type that implements an interface in one subgraph only, behind a union in the other; and a field that returns it all the same. */
export const interfaceInPart: SupergraphCase = {
  name: "interface-in-part",
  subgraphs: [
    {
      name: "shop",
      typeDefs: `
        type Query { things: [Thing!] nodes: [Node!] node(id: ID!): Node }
        union Thing = Stove | Kettle
        interface Node { id: ID! }
        interface Sold { years: Int }
        type Stove @key(fields: "id") { id: ID! }
        type Kettle implements Node & Sold @key(fields: "id") { id: ID! years: Int }
      `,
      resolvers: { Query: { things: () => things, nodes: () => [kettle], node: findByArguments(things, "id") } },
    },
    {
      name: "papers",
      typeDefs: `
        interface Node { id: ID! }
        interface Sold { years: Int }
        type Stove implements Node & Sold @key(fields: "id") { id: ID! years: Int }
      `,
      resolvers: { Stove: { __resolveReference: findIn([stove], "id"), years: yearsOfStove } },
    },
  ],
  monolith: {
    Query: {
      things: () => things,
      nodes: () => [kettle],
      node: (_, { id }: { id: string }) => (id === "k" ? kettle : id === "s" ? new Error("No stove here") : null),
    },
    Stove: { years: yearsOfStove },
  },
  argumentValues: { id: ["k", "s", "x"] },
  stockDiffers: { colliding: "an alias with the name of a key is taken for the key" },
  cases: [
    {
      name: "fragments on interfaces hold for members that implement them elsewhere",
      query: "{ things { __typename ... on Node { id } ... on Sold { years } } }",
      expected: {
        data: {
          things: [
            { __typename: "Stove", id: "s", years: 1 },
            { __typename: "Kettle", id: "k", years: 3 },
          ],
        },
      },
    },
    {
      name: "interfaces within interfaces, over and over",
      query:
        "{ nodes { ... on Node { id ... on Sold { years ... on Node { id ... on Kettle { years } } } } ... on Stove { id } } }",
      expected: { data: { nodes: [{ id: "k", years: 3 }] } },
    },
    {
      name: "a subgraph that returns a type which does not implement the interface there has an error",
      query: '{ kettle: node(id: "k") { ... on Kettle { years } } stove: node(id: "s") { ... on Stove { years } } }',
      expected: { data: { kettle: { years: 3 }, stove: null }, errors: [{ path: ["stove"], code: "SUBGRAPH_ERROR" }] },
    },
  ],
};
