import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const posts = [
  { id: "1", title: "Hello", createdAt: "new-1" },
  { id: "2", title: "World", createdAt: "new-2" },
];
const old = posts.map(({ id, title }) => ({ id, title, createdAt: "old" }));

/** A field and a root field with `@override`: their former subgraph still has them, and is not fetched. */
export const override: SupergraphCase = {
  name: "override",
  subgraphs: [
    {
      name: "old",
      typeDefs: `
        type Query { posts: [Post!] feed: [Post!] post(id: ID!): Post }
        type Post @key(fields: "id") { id: ID! title: String createdAt: String }
      `,
      resolvers: {
        Query: { posts: () => old, feed: () => [], post: findByArguments(old, "id") },
        Post: { __resolveReference: findIn(old, "id") },
      },
    },
    {
      name: "new",
      typeDefs: `
        type Query { feed: [Post!] @override(from: "old") }
        type Post @key(fields: "id") { id: ID! createdAt: String @override(from: "old") }
      `,
      resolvers: {
        Query: { feed: () => posts.toReversed() },
        Post: { __resolveReference: findIn(posts, "id") },
      },
    },
  ],
  monolith: {
    Query: { posts: () => posts, feed: () => posts.toReversed(), post: findByArguments(posts, "id") },
  },
  argumentValues: { id: ["1", "2", "9"] },
  cases: [
    {
      name: "the overridden field is fetched from its new subgraph",
      query: "{ posts { title createdAt } }",
      expected: {
        data: {
          posts: [
            { title: "Hello", createdAt: "new-1" },
            { title: "World", createdAt: "new-2" },
          ],
        },
      },
    },
    {
      name: "the moved root field too, and the rest from where it was",
      query: "{ feed { title createdAt } }",
      expected: {
        data: {
          feed: [
            { title: "World", createdAt: "new-2" },
            { title: "Hello", createdAt: "new-1" },
          ],
        },
      },
    },
  ],
};
