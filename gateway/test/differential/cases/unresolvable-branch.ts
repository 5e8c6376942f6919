import type { SupergraphCase } from "../supergraph-case.ts";

/**
 * An interface that no type implements, and a field of it that only a subgraph has which cannot be entered. It composes, and the
 * planner drops the branch.
 */
export const unresolvableBranch: SupergraphCase = {
  name: "unresolvable-branch",
  subgraphs: [
    {
      name: "nodes",
      typeDefs: `
        type Query { latest: Node count: Int }
        interface Node @key(fields: "id") { id: ID! }
      `,
      resolvers: { Query: { latest: () => null, count: () => 0 }, Node: { __resolveType: () => "Node" } },
    },
    {
      name: "notes",
      typeDefs: `
        type Query { author: String }
        type Node @key(fields: "id", resolvable: false) @interfaceObject { id: ID! note: String }
      `,
      resolvers: { Query: { author: () => "Ada" } },
    },
  ],
  monolith: { Query: { latest: () => null, count: () => 0, author: () => "Ada" } },
  errorsDiffer: "the monolith resolves the branch, which no subgraph does",
  mayReject: "an operation of nothing else than that branch",
  cases: [
    {
      name: "a branch that no subgraph can resolve is an error, and its siblings stand",
      query: "{ count latest { note } author }",
      expected: { data: { count: 0, latest: null, author: "Ada" }, errors: [{ path: ["latest"] }] },
      stockIsWrong: "latest is null, without an error",
    },
    {
      name: "an object that a subgraph says is null has no branches",
      query: "{ latest { id note } }",
      expected: { data: { latest: null } },
    },
  ],
};
