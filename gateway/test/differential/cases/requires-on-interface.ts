import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

interface Address {
  readonly __typename: string;
  readonly zip?: string;
  readonly street?: string;
}
const users = [
  { id: "1", name: "Ada", address: { __typename: "Home", city: "London", street: "Square" } },
  { id: "2", name: "Grace", address: { __typename: "Base", city: "Norfolk", zip: "235" } },
];
const ids = users.map(({ id }) => ({ id }));
const label = ({ address }: { address: Address & { city: string } }) =>
  `${address.city}, ${address.street ?? address.zip}`;

/** `@requires` of a field that is an interface: its own field and those of the types that implement it. */
export const requiresOnInterface: SupergraphCase = {
  name: "requires-on-interface",
  subgraphs: [
    {
      name: "users",
      typeDefs: `
        type Query { users: [User!] user(id: ID!): User }
        type User @key(fields: "id") { id: ID! name: String address: Address }
        interface Address { city: String }
        type Home implements Address @shareable { city: String street: String }
        type Base implements Address @shareable { city: String zip: String }
      `,
      resolvers: {
        Query: { users: () => users, user: findByArguments(users, "id") },
        User: { __resolveReference: findIn(users, "id") },
      },
    },
    {
      name: "letters",
      typeDefs: `
        type User @key(fields: "id") {
          id: ID! address: Address @external
          label: String @requires(fields: "address { city ... on Home { street } ... on Base { zip } }")
        }
        interface Address { city: String }
        type Home implements Address @shareable { city: String street: String }
        type Base implements Address @shareable { city: String zip: String }
      `,
      resolvers: { User: { __resolveReference: findIn(ids, "id"), label } },
    },
  ],
  monolith: { Query: { users: () => users, user: findByArguments(users, "id") }, User: { label } },
  argumentValues: { id: ["1", "2", "9"] },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "each type gives what is required of it",
      query: "{ users { label } }",
      expected: { data: { users: [{ label: "London, Square" }, { label: "Norfolk, 235" }] } },
    },
    {
      name: "the client's own selection on the interface stays as it is",
      query: '{ user(id: "2") { label address { __typename city ... on Base { code: zip } } } }',
      expected: {
        data: {
          user: { label: "Norfolk, 235", address: { __typename: "Base", city: "Norfolk", code: "235" } },
        },
      },
    },
    {
      name: "an alias with a required field's name below the interface changes nothing",
      query: '{ user(id: "2") { label address { city: __typename } } }',
      expected: { data: { user: { label: "Norfolk, 235", address: { city: "Base" } } } },
    },
  ],
};
