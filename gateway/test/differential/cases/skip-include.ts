import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const users = [
  { id: "1", name: "Ada", score: 3 },
  { id: "2", name: "Grace", score: 0 },
];
const echo = (_: unknown, { text }: { text?: string | null }) => text ?? "nothing";

/** `@skip` and `@include` by literals, variables and defaults, on both sides of a subgraph's border; `__typename` everywhere. */
export const skipInclude: SupergraphCase = {
  name: "skip-include",
  subgraphs: [
    {
      name: "users",
      typeDefs: `
        type Query { users: [User!] user(id: ID!): User echo(text: String): String }
        type User @key(fields: "id") { id: ID! name: String }
      `,
      resolvers: {
        Query: { users: () => users, user: findByArguments(users, "id"), echo },
        User: { __resolveReference: findIn(users, "id") },
      },
    },
    {
      name: "scores",
      typeDefs: `
        type Query { best: User }
        type User @key(fields: "id") { id: ID! score: Int }
      `,
      resolvers: { Query: { best: () => users[0] }, User: { __resolveReference: findIn(users, "id") } },
    },
  ],
  monolith: {
    Query: { users: () => users, user: findByArguments(users, "id"), echo, best: () => users[0] },
  },
  argumentValues: { id: ["1", "2", "9"], text: ["a", "", null] },
  cases: [
    {
      name: "a default decides when the variable is not given",
      query: `query ($yes: Boolean! = true, $no: Boolean! = false) {
        users { name @include(if: $no) score @include(if: $yes) id @skip(if: $yes) } }`,
      expected: { data: { users: [{ score: 3 }, { score: 0 }] } },
    },
    {
      name: "and does not when it is given",
      query: "query ($yes: Boolean! = true) { users { name score @include(if: $yes) } }",
      variables: { yes: false },
      expected: { data: { users: [{ name: "Ada" }, { name: "Grace" }] } },
    },
    {
      name: "a field that is skipped at one position and not at another is present",
      query:
        "query ($no: Boolean = false) { best { name @include(if: $no) ...F ... @skip(if: $no) { name } } } fragment F on User { score }",
      expected: { data: { best: { score: 3, name: "Ada" } } },
    },
    {
      name: "an operation with everything skipped is an empty object",
      query: "{ users @skip(if: true) { id } best @include(if: false) { id } }",
      expected: { data: {} },
    },
    {
      name: "an object with everything skipped is an empty object",
      query: "query ($no: Boolean! = false) { user(id: 1) { score @include(if: $no) } }",
      expected: { data: { user: {} } },
    },
    {
      name: "__typename is there at every level and under every name",
      query: "{ __typename a: __typename best { __typename b: __typename ... on User { c: __typename score } } }",
      expected: {
        data: { __typename: "Query", a: "Query", best: { __typename: "User", b: "User", c: "User", score: 3 } },
      },
    },
    {
      name: "a field with the alias __typename does not replace the type",
      query: "{ best { __typename: name score } }",
      expected: { data: { best: { __typename: "Ada", score: 3 } } },
      stockIsWrong: "returns the type, with SUBGRAPH_INVALID_RESPONSE",
    },
    {
      name: "only __typename needs no subgraph",
      query: "query ($no: Boolean = false) { __typename x: __typename @include(if: $no) }",
      expected: { data: { __typename: "Query" } },
    },
    {
      name: "a variable that is not given is not null",
      query: 'query ($t: String, $u: String = "u") { a: echo(text: $t) b: echo(text: $u) c: echo }',
      expected: { data: { a: "nothing", b: "u", c: "nothing" } },
    },
  ],
};
