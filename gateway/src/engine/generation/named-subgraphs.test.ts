import { expect, test } from "vitest";
import { findNamedSubgraphs } from "./named-subgraphs.ts";

const supergraph = `
  enum join__Graph { USERS @join__graph(name: "users", url: "") LINE_ITEMS @join__graph(name: "line-items", url: "") }
  type Query @join__type(graph: USERS) @join__type(graph: LINE_ITEMS) {
    me: User @join__field(graph: USERS)
    items: [Item] @join__field(graph: LINE_ITEMS) @authenticated
  }
  type User @join__type(graph: USERS) { id: ID! }
  type Item @join__type(graph: USERS) @join__type(graph: LINE_ITEMS) { id: ID! }
`;

test.each([
  ["Field Query.me: unknown type Usr", ["users"]],
  ["[users] Item.id cannot be resolved", ["users", "line-items"]],
  ["the gateway does not enforce @authenticated", ["line-items"]],
  ['Type "User" is defined twice', ["users"]],
  ["Syntax Error: Expected Name", []],
])("%s", (reason, subgraphs) => {
  expect(findNamedSubgraphs(supergraph, reason)).toEqual(subgraphs);
});

test("a text that is no GraphQL document names none", () => {
  expect(findNamedSubgraphs(supergraph.slice(0, -5), "Query.me")).toEqual([]);
});
