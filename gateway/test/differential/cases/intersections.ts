import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const users = [
  { id: "1", kind: "ADMIN" },
  { id: "2", kind: "GUEST" },
];
const ids = users.map(({ id }) => ({ id }));
const describeFilter = (_: unknown, { filter }: { filter?: object | null }) => JSON.stringify(filter) ?? "all";
const greet = (_: unknown, { kind }: { kind?: string | null }) => (kind === undefined ? "?" : String(kind));

/** Input types and enums that differ between subgraphs: clients see what all of them take, and all that they give. */
export const intersections: SupergraphCase = {
  name: "intersections",
  subgraphs: [
    {
      name: "users",
      typeDefs: `
        type Query { user(id: ID!): User one(filter: Filter): String }
        type User @key(fields: "id") { id: ID! kind: Kind }
        enum Kind { ADMIN GUEST }
        input Filter { first: Int = 3 only: Taken own: String }
        enum Taken { NEW OLD LOST }
      `,
      resolvers: {
        Query: { user: findByArguments(users, "id"), one: describeFilter },
        User: { __resolveReference: findIn(users, "id") },
      },
    },
    {
      name: "posts",
      typeDefs: `
        type Query { two(filter: Filter): String }
        type User @key(fields: "id") { id: ID! greeting(kind: Taken): String }
        input Filter { first: Int = 3 only: Taken }
        enum Taken { NEW OLD }
      `,
      resolvers: {
        Query: { two: describeFilter },
        User: { __resolveReference: findIn(ids, "id"), greeting: greet },
      },
    },
  ],
  monolith: {
    Query: { user: findByArguments(users, "id"), one: describeFilter, two: describeFilter },
    User: { greeting: greet },
  },
  argumentValues: { id: ["1", "2", "9"] },
  cases: [
    {
      name: "both subgraphs get the same input, with its defaults",
      query: "query ($f: Filter) { one(filter: $f) two(filter: $f) }",
      variables: { f: { only: "NEW" } },
      expected: { data: { one: '{"first":3,"only":"NEW"}', two: '{"first":3,"only":"NEW"}' } },
    },
    {
      name: "an input that is null is null, one that is left out is left out",
      query: "query ($f: Filter) { one(filter: null) two(filter: $f) }",
      expected: { data: { one: "null", two: "all" } },
    },
    {
      name: "enum values go out and come in",
      query: '{ user(id: "2") { kind greeting(kind: OLD) } }',
      expected: { data: { user: { kind: "GUEST", greeting: "OLD" } } },
    },
  ],
};
