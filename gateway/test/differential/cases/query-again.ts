import type { SupergraphCase } from "../supergraph-case.ts";

let count = 0;
const add = (_: unknown, { by }: { by: number }) => ({ count: (count += by) });

/** Fields of the query type: all root fields can be selected below them, introspection too. */
export const queryAgain: SupergraphCase = {
  name: "query-again",
  reset: () => void (count = 0),
  subgraphs: [
    {
      name: "counts",
      typeDefs: `
        type Query { count: Int here: Place }
        type Mutation { add(by: Int!): Added }
        type Added { count: Int query: Query! }
        type Place @key(fields: "id") { id: ID! query: Query }
      `,
      resolvers: {
        Query: { count: () => count, here: () => ({ id: "h" }) },
        Mutation: { add },
        Added: { query: () => ({}) },
        Place: { query: () => ({}), __resolveReference: ({ id }: { id: string }) => ({ id }) },
      },
    },
    {
      name: "names",
      typeDefs: `
        type Query { name: String there: [Place!] }
        type Place @key(fields: "id") { id: ID! name: String }
      `,
      resolvers: {
        Query: { name: () => "Ada", there: () => [{ id: "t" }, { id: "h" }] },
        Place: {
          __resolveReference: ({ id }: { id: string }) => ({ id }),
          name: ({ id }: { id: string }) => `place ${id}`,
        },
      },
    },
  ],
  monolith: {
    Query: {
      count: () => count,
      here: () => ({ id: "h" }),
      name: () => "Ada",
      there: () => [{ id: "t" }, { id: "h" }],
    },
    Mutation: { add },
    Added: { query: () => ({}) },
    Place: { query: () => ({}), name: ({ id }: { id: string }) => `place ${id}` },
  },
  argumentValues: { by: [1, 2] },
  cases: [
    {
      name: "below a mutation root fields of every subgraph can be selected",
      query: "mutation { a: add(by: 2) { count query { count name } } b: add(by: 1) { query { count } } }",
      expected: { data: { a: { count: 2, query: { count: 2, name: "Ada" } }, b: { query: { count: 3 } } } },
    },
    {
      name: "and again below what they give",
      query: "{ there { query { here { name } x: name } } }",
      expected: {
        data: {
          there: [
            { query: { here: { name: "place h" }, x: "Ada" } },
            { query: { here: { name: "place h" }, x: "Ada" } },
          ],
        },
      },
    },
    {
      name: "introspection and __typename can be selected there",
      query: '{ here { query { __typename __schema { queryType { name } } t: __type(name: "Place") { name } } } }',
      expected: {
        data: {
          here: { query: { __typename: "Query", __schema: { queryType: { name: "Query" } }, t: { name: "Place" } } },
        },
      },
      stockIsWrong: "returns null for both, without an error",
    },
  ],
};
