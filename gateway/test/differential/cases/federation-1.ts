import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const users = [
  { id: "1", name: "Ada", born: 1815 },
  { id: "2", name: "Grace", born: 1906 },
];
const age = ({ born }: { born: number }) => 2000 - born;

/** Subgraphs of federation 1: no link, `extend type`, `@external` on keys and on required and provided fields. */
export const federation1: SupergraphCase = {
  name: "federation-1",
  subgraphs: [
    {
      name: "users",
      header: "",
      typeDefs: `
        type Query { users: [User] user(id: ID!): User }
        type User @key(fields: "id") { id: ID! name: String born: Int }
      `,
      resolvers: {
        Query: { users: () => users, user: findByArguments(users, "id") },
        User: { __resolveReference: findIn(users, "id") },
      },
    },
    {
      name: "ages",
      header: "",
      typeDefs: `
        extend type Query { oldest: User @provides(fields: "name") }
        extend type User @key(fields: "id") {
          id: ID! @external name: String @external born: Int @external
          age: Int @requires(fields: "born")
        }
      `,
      resolvers: {
        Query: { oldest: () => ({ id: "1", name: "Ada" }) },
        User: { __resolveReference: (reference: object) => reference, age },
      },
    },
  ],
  monolith: {
    Query: { users: () => users, user: findByArguments(users, "id"), oldest: () => users[0] },
    User: { age },
  },
  argumentValues: { id: ["1", "2", "9"] },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "a required field of federation 1 is sent",
      query: "{ users { name age } }",
      expected: {
        data: {
          users: [
            { name: "Ada", age: 185 },
            { name: "Grace", age: 94 },
          ],
        },
      },
    },
    {
      name: "a provided field and one that is not stand in one object",
      query: "{ oldest { id name born age } }",
      expected: { data: { oldest: { id: "1", name: "Ada", born: 1815, age: 185 } } },
    },
    {
      name: "an alias with the name of a required field changes nothing",
      query: "{ users { born: name age } }",
      expected: {
        data: {
          users: [
            { born: "Ada", age: 185 },
            { born: "Grace", age: 94 },
          ],
        },
      },
      stockIsWrong: "sends the aliased name as the required field: age is null with SUBGRAPH_ERROR",
    },
  ],
};
