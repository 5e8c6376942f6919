import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const lid = { code: "c", size: { grams: 3 } };

/** An entity that another subgraph does not have, in a plan that is merged, since two subgraphs have parts of `size`. */
export const missingInMerge: SupergraphCase = {
  name: "missing-in-merge",
  subgraphs: [
    {
      name: "lids",
      typeDefs: `
        type Query { lid: Lid }
        type Lid @key(fields: "code") { code: ID! size: Size @shareable }
        type Size { grams: Int }
      `,
      resolvers: { Query: { lid: () => lid } },
    },
    {
      name: "serials",
      typeDefs: `
        type Lid @key(fields: "code") @key(fields: "serial") { code: ID! serial: Int! size: Size @shareable }
        type Size { millimetres: Int }
      `,
      resolvers: { Lid: { __resolveReference: findIn([], "code") } },
    },
    {
      name: "makers",
      typeDefs: 'type Lid @key(fields: "serial") { serial: Int! maker: String }',
      resolvers: { Lid: { __resolveReference: findIn([], "serial") } },
    },
  ],
  monolith: { Query: { lid: () => lid } },
  ambiguous: "without `grams`, the `size` of a missing entity is null, with it an object",
  cases: [
    {
      name: "fields of a missing entity, and after it, are null without an error",
      query: "{ lid { size { grams millimetres } maker } }",
      expected: { data: { lid: { size: { grams: 3, millimetres: null }, maker: null } } },
    },
    {
      name: "a missing non-null field has an error at its path",
      query: "{ lid { size { grams millimetres } serial } }",
      expected: { data: { lid: null }, errors: [{ path: ["lid", "serial"], code: "NOT_FOUND" }] },
    },
  ],
};
