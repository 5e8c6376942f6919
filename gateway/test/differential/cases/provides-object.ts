import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const users = [
  { id: "1", name: "Ada", mail: "ada@example.org" },
  { id: "2", name: "Grace", mail: "grace@example.org" },
];
const reviews = [
  { id: "r1", body: "Good", author: { id: "1", name: "Ada" }, editor: { id: "2" } },
  { id: "r2", body: "Bad", author: { id: "2", name: "Grace" }, editor: null },
];
const whole = (one: { id: string } | null) => users.find((user) => user.id === one?.id);

/** `@provides` of a field that elsewhere in the same subgraph cannot be had. */
export const providesObject: SupergraphCase = {
  name: "provides-object",
  subgraphs: [
    {
      name: "users",
      typeDefs: `
        type Query { user(id: ID!): User }
        type User @key(fields: "id") { id: ID! name: String @shareable mail: String }
      `,
      resolvers: { Query: { user: findByArguments(users, "id") }, User: { __resolveReference: findIn(users, "id") } },
    },
    {
      name: "reviews",
      typeDefs: `
        type Query { reviews: [Review!] }
        type Review { id: ID! body: String author: User @provides(fields: "name") editor: User }
        type User @key(fields: "id") { id: ID! name: String @external reviews: [Review!] }
      `,
      resolvers: {
        Query: { reviews: () => reviews },
        User: {
          __resolveReference: ({ id }: { id: string }) => ({ id }),
          reviews: ({ id }: { id: string }) => reviews.filter(({ author }) => author.id === id),
        },
      },
    },
  ],
  monolith: {
    Query: { user: findByArguments(users, "id"), reviews: () => reviews },
    Review: {
      author: (review: (typeof reviews)[number]) => whole(review.author),
      editor: (review: (typeof reviews)[number]) => whole(review.editor),
    },
    User: { reviews: ({ id }: { id: string }) => reviews.filter(({ author }) => author.id === id) },
  },
  argumentValues: { id: ["1", "2", "9"] },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "the provided field is there, and so is the same field where it is not provided",
      query: "{ reviews { author { name } editor { name } } }",
      expected: {
        data: {
          reviews: [
            { author: { name: "Ada" }, editor: { name: "Grace" } },
            { author: { name: "Grace" }, editor: null },
          ],
        },
      },
    },
    {
      name: "below an entity the provided field is there as well",
      query: '{ user(id: "2") { reviews { body author { name mail } } } }',
      expected: {
        data: { user: { reviews: [{ body: "Bad", author: { name: "Grace", mail: "grace@example.org" } }] } },
      },
    },
  ],
};
