import { type SupergraphCase, findByArguments } from "../supergraph-case.ts";

const users = [
  { number: "1", name: "Ada", organization: { id: "x", title: "Analytical" } },
  { number: "1", name: "Grace", organization: { id: "y", title: "Navy" } },
  { number: "2", name: "Linus", organization: null },
];
const logins = [
  { number: "1", organization: { id: "x" }, logins: [3, 1] },
  { number: "1", organization: { id: "y" }, logins: [] },
];

interface UserKey {
  readonly number: string;
  readonly organization: { readonly id: string } | null;
}
const isSame = (one: UserKey) => (other: UserKey) =>
  one.number === other.number && one.organization?.id === other.organization?.id;

/** A key with a selection set: the number is unique only within an organization. */
export const keysNested: SupergraphCase = {
  name: "keys-nested",
  subgraphs: [
    {
      name: "users",
      typeDefs: `
        type Query { users: [User] user(name: String!): User }
        type User @key(fields: "number organization { id }") { number: ID! organization: Organization name: String }
        type Organization @shareable { id: ID! title: String }
      `,
      resolvers: {
        Query: { users: () => users, user: findByArguments(users, "name") },
        User: { __resolveReference: (key: UserKey) => users.find(isSame(key)) },
      },
    },
    {
      name: "logins",
      typeDefs: `
        type User @key(fields: "number organization { id }") { number: ID! organization: Organization logins: [Int] }
        type Organization @shareable { id: ID! }
      `,
      resolvers: { User: { __resolveReference: (key: UserKey) => logins.find(isSame(key)) } },
    },
  ],
  monolith: {
    Query: { users: () => users, user: findByArguments(users, "name") },
    User: { logins: (user: UserKey) => logins.find(isSame(user))?.logins },
  },
  argumentValues: { name: ["Ada", "Linus", "Anonymous"] },
  cases: [
    {
      name: "the nested part of the key distinguishes two users with the same number; without it no user is found",
      query: "{ users { name logins } }",
      expected: {
        data: {
          users: [
            { name: "Ada", logins: [3, 1] },
            { name: "Grace", logins: [] },
            { name: "Linus", logins: null },
          ],
        },
      },
    },
    {
      name: "the client's selection of the nested object and the key's do not mix",
      query: '{ user(name: "Ada") { organization { title } logins } }',
      expected: { data: { user: { organization: { title: "Analytical" }, logins: [3, 1] } } },
    },
    {
      name: "an alias within the nested object that has the key's name changes nothing",
      query: '{ user(name: "Ada") { organization { id: title } logins } }',
      expected: { data: { user: { organization: { id: "Analytical" }, logins: [3, 1] } } },
      stockIsWrong: "returns the key id under the alias id",
    },
  ],
};
