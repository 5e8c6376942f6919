import { GraphQLError } from "graphql";
import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const posts = [
  { id: "p1", author: { id: "1" }, editor: { id: "2" }, topic: { code: "t1" } },
  { id: "p2", author: { id: "2" }, editor: { id: "2" }, topic: { code: "t2" } },
  { id: "p3", author: { id: "3" }, editor: null, topic: { code: "t1" } },
];
const users = [
  { id: "1", name: "Ada", topic: { code: "t2" } },
  { id: "2", name: "Grace", topic: { code: "t1" } },
];
const topics = [
  { code: "t1", title: "Engines", owner: { id: "1" } },
  { code: "t2", title: "Compilers", owner: { id: "2" } },
];
const topicOf = ({ code }: { code: string }) => topics.find((row) => row.code === code);
const titleOf = (topic: { code: string }, { upper }: { upper: boolean }) =>
  upper ? topicOf(topic)?.title.toUpperCase() : topicOf(topic)?.title;
const userOf = ({ id }: { id: string }) => users.find((row) => row.id === id);
const nameOf = (user: { id: string }) => userOf(user)?.name;

function refuse(): never {
  throw new GraphQLError("Not yours.", { extensions: { code: "FORBIDDEN" } });
}

const mailOf = ({ id }: { id: string }) => (id === "1" ? refuse() : `${id}@example.org`);
const sealOf = ({ code }: { code: string }) => (code === "t1" ? refuse() : `seal of ${code}`);
const scoreOf = ({ id }: { id: string }, { of }: { of: number }) => Number(id.slice(1)) * of;

/** Entities of two types at several paths, from one subgraph: they are fetched in one request, with separate errors. */
export const batchedEntities: SupergraphCase = {
  name: "batched-entities",
  subgraphs: [
    {
      name: "posts",
      typeDefs: `
        type Query { posts: [Post!] post(id: ID!): Post }
        type Post @key(fields: "id") { id: ID! author: User editor: User topic: Topic! }
        type User @key(fields: "id") { id: ID! }
        type Topic @key(fields: "code") { code: ID! }
      `,
      resolvers: {
        Query: { posts: () => posts, post: findByArguments(posts, "id") },
        Post: { __resolveReference: findIn(posts, "id") },
      },
    },
    {
      name: "people",
      typeDefs: `
        type User @key(fields: "id") { id: ID! name: String mail: String sure: String! topic: Topic }
        type Topic @key(fields: "code") { code: ID! title(upper: Boolean = false): String seal: String! owner: User }
      `,
      resolvers: {
        User: {
          __resolveReference: findIn(users, "id"),
          name: nameOf,
          mail: mailOf,
          sure: mailOf,
          topic: (user: { id: string }) => userOf(user)?.topic,
        },
        Topic: {
          __resolveReference: findIn(topics, "code"),
          seal: sealOf,
          title: titleOf,
          owner: (topic: { code: string }) => topicOf(topic)?.owner,
        },
      },
    },
    {
      name: "marks",
      typeDefs: `
        type Query { marked: [Post] }
        type Post @key(fields: "id") { id: ID! score(of: Int!): Int fans: [User!] }
        type User @key(fields: "id") { id: ID! name: String @external stars(of: Int): String @requires(fields: "name") }
      `,
      resolvers: {
        Query: { marked: () => [{ id: "p2" }, null, { id: "p1" }] },
        Post: {
          __resolveReference: ({ id }: { id: string }) => ({ id }),
          score: scoreOf,
          fans: ({ id }: { id: string }) => (id === "p1" ? users.map((user) => ({ id: user.id })) : []),
        },
        User: {
          __resolveReference: (user: object) => user,
          stars: ({ name }: { name: string | null }, { of = 2 }: { of?: number }) => `${name} ${"*".repeat(of ?? 0)}`,
        },
      },
    },
  ],
  monolith: {
    Query: { posts: () => posts, post: findByArguments(posts, "id"), marked: () => [posts[1], null, posts[0]] },
    Post: {
      score: scoreOf,
      fans: ({ id }: { id: string }) => (id === "p1" ? users.map((user) => ({ id: user.id })) : []),
    },
    User: {
      name: nameOf,
      mail: (user: { id: string }) => (nameOf(user) === undefined ? null : mailOf(user)),
      sure: (user: { id: string }) => (nameOf(user) === undefined ? null : mailOf(user)),
      topic: (user: { id: string }) => userOf(user)?.topic,
      stars: (user: { id: string }, { of = 2 }: { of?: number }) =>
        nameOf(user) === undefined ? null : `${nameOf(user)} ${"*".repeat(of ?? 0)}`,
    },
    Topic: {
      title: titleOf,
      seal: sealOf,
      owner: (topic: { code: string }) => topicOf(topic)?.owner,
    },
  },
  argumentValues: { id: ["p1", "p2", "p3", "p9"], of: [1, 2, 3] },
  cases: [
    {
      name: "every entity's error is at the paths of that entity",
      query: '{ post(id: "p1") { author { mail } editor { mail } topic { title(upper: true) seal } } }',
      expected: {
        data: { post: null },
        errors: [
          { path: ["post", "author", "mail"], code: "FORBIDDEN" },
          { path: ["post", "topic", "seal"], code: "FORBIDDEN" },
        ],
      },
    },
    {
      name: "an entity is missing at one path and present at another",
      query: "{ posts { author { name } editor { name } topic { title owner { name } } } }",
      expected: {
        data: {
          posts: [
            { author: { name: "Ada" }, editor: { name: "Grace" }, topic: { title: "Engines", owner: { name: "Ada" } } },
            {
              author: { name: "Grace" },
              editor: { name: "Grace" },
              topic: { title: "Compilers", owner: { name: "Grace" } },
            },
            { author: { name: null }, editor: null, topic: { title: "Engines", owner: { name: "Ada" } } },
          ],
        },
      },
    },
    {
      name: "variables of one are not those of the other",
      query: `query ($representations0: Int!, $of: Boolean) {
        post(id: "p2") { author { stars(of: $representations0) } score(of: $representations0) topic { title(upper: $of) } } }`,
      variables: { representations0: 3, of: true },
      expected: { data: { post: { author: { stars: "Grace ***" }, score: 6, topic: { title: "COMPILERS" } } } },
    },
  ],
};
