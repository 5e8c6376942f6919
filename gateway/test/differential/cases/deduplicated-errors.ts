import { GraphQLError } from "graphql";
import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const ada = { id: "1" };
const grace = { id: "2" };
const posts = [{ author: ada }, { author: grace }, { author: ada }];
const users = [
  { id: "1", name: "Ada" },
  { id: "2", name: "Grace" },
];

function forbid({ id }: { id: string }): string {
  if (id === "1") throw new GraphQLError("Not yours.", { extensions: { code: "FORBIDDEN" } });
  return `${id}@example.org`;
}

/** One representation for several paths: its error is reported at each of them. */
export const deduplicatedErrors: SupergraphCase = {
  name: "deduplicated-errors",
  subgraphs: [
    {
      name: "posts",
      typeDefs: `
        type Query { posts: [Post] }
        type Post { author: User }
        type User @key(fields: "id") { id: ID! }
      `,
      resolvers: { Query: { posts: () => posts } },
    },
    {
      name: "users",
      typeDefs: `type User @key(fields: "id") { id: ID! name: String mail: String sure: String! }`,
      resolvers: { User: { __resolveReference: findIn(users, "id"), mail: forbid, sure: forbid } },
    },
  ],
  monolith: {
    Query: { posts: () => posts },
    User: {
      name: ({ id }: { id: string }) => findIn(users, "id")({ id })?.["name" as never],
      mail: forbid,
      sure: forbid,
    },
  },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "an error is at every path of its entity",
      query: "{ posts { author { name mail } } }",
      expected: {
        data: {
          posts: [
            { author: { name: "Ada", mail: null } },
            { author: { name: "Grace", mail: "2@example.org" } },
            { author: { name: "Ada", mail: null } },
          ],
        },
        errors: [
          { path: ["posts", 0, "author", "mail"], code: "FORBIDDEN" },
          { path: ["posts", 2, "author", "mail"], code: "FORBIDDEN" },
        ],
      },
    },
    {
      name: "by its alias",
      query: "{ all: posts { by: author { to: mail } } }",
      expected: {
        data: { all: [{ by: { to: null } }, { by: { to: "2@example.org" } }, { by: { to: null } }] },
        errors: [
          { path: ["all", 0, "by", "to"], code: "FORBIDDEN" },
          { path: ["all", 2, "by", "to"], code: "FORBIDDEN" },
        ],
      },
    },
    {
      name: "and so is the null that it propagates to, with one error for each path",
      query: "{ posts { author { sure } } }",
      expected: {
        data: { posts: [{ author: null }, { author: { sure: "2@example.org" } }, { author: null }] },
        errors: [
          { path: ["posts", 0, "author", "sure"], code: "FORBIDDEN" },
          { path: ["posts", 2, "author", "sure"], code: "FORBIDDEN" },
        ],
      },
    },
    {
      name: "a field that is skipped below a conditional field is not fetched, and cannot fail",
      query: "query ($yes: Boolean! = true) { posts { author @include(if: $yes) { name sure @skip(if: true) } } }",
      expected: {
        data: { posts: [{ author: { name: "Ada" } }, { author: { name: "Grace" } }, { author: { name: "Ada" } }] },
      },
      stockIsWrong: "drops the @skip and fetches the field: name is null with FORBIDDEN at sure",
    },
  ],
};
