import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const accounts = [
  { __typename: "Admin", id: "1", name: "Ada", rights: 3 },
  { __typename: "Guest", id: "2", name: "Grace", until: "noon" },
];

/** An `@interfaceObject` without further fields: it only refers to entities, whose types it does not have. */
export const interfaceObjectPlain: SupergraphCase = {
  name: "interface-object-plain",
  subgraphs: [
    {
      name: "accounts",
      typeDefs: `
        type Query { accounts: [Account] }
        interface Account @key(fields: "id") { id: ID! name: String }
        type Admin implements Account @key(fields: "id") { id: ID! name: String rights: Int }
        type Guest implements Account @key(fields: "id") { id: ID! name: String until: String }
      `,
      resolvers: {
        Query: { accounts: () => accounts },
        Account: { __resolveReference: ({ id }: { id: string }) => accounts.find((one) => one.id === id) },
        Admin: { __resolveReference: findIn(accounts, "id") },
        Guest: { __resolveReference: findIn(accounts, "id") },
      },
    },
    {
      name: "logins",
      typeDefs: `
        type Query { logins: [Login!] }
        type Login { at: Int account: Account }
        type Account @key(fields: "id") @interfaceObject { id: ID! }
      `,
      resolvers: {
        Query: {
          logins: () => [
            { at: 1, account: { id: "2" } },
            { at: 2, account: { id: "1" } },
            { at: 3, account: null },
          ],
        },
      },
    },
  ],
  monolith: {
    Query: {
      accounts: () => accounts,
      logins: () => [
        { at: 1, account: accounts[1] },
        { at: 2, account: accounts[0] },
        { at: 3, account: null },
      ],
    },
  },
  cases: [
    {
      name: "the type is fetched from a subgraph that has it",
      query: "{ logins { at account { __typename } } }",
      expected: {
        data: {
          logins: [
            { at: 1, account: { __typename: "Guest" } },
            { at: 2, account: { __typename: "Admin" } },
            { at: 3, account: null },
          ],
        },
      },
    },
    {
      name: "fields and fragments go where the types are known",
      query: "{ logins { account { id name ... on Guest { until } ... on Admin { rights } } } }",
      expected: {
        data: {
          logins: [
            { account: { id: "2", name: "Grace", until: "noon" } },
            { account: { id: "1", name: "Ada", rights: 3 } },
            { account: null },
          ],
        },
      },
    },
    {
      name: "a fragment on one type leaves the other empty",
      query: "{ logins { account { ... on Admin { id } } } }",
      expected: { data: { logins: [{ account: {} }, { account: { id: "1" } }, { account: null }] } },
    },
  ],
};
