import { expect, test } from "vitest";
import { readOwnership } from "./ownership.ts";

const ownership = readOwnership(`
enum join__Graph {
  USERS @join__graph(name: "users", url: "http://127.0.0.1:4001/graphql")
  BLOG_POSTS @join__graph(name: "blog-posts", url: "http://127.0.0.1:4002/graphql")
}

type User @join__type(graph: USERS, key: "id") @join__type(graph: BLOG_POSTS, key: "id") {
  id: ID!
  name: String @join__field(graph: USERS) @join__field(graph: BLOG_POSTS, external: true)
  posts(first: Int): [ID] @join__field(graph: BLOG_POSTS)
  bio: String @join__field(graph: USERS, usedOverridden: true) @join__field(graph: BLOG_POSTS, override: "users")
}

enum Role @join__type(graph: USERS) @join__type(graph: BLOG_POSTS) {
  READER @join__enumValue(graph: USERS)
}
`);

test("subgraphs are listed by name, not by enum value", () => {
  expect(ownership.subgraphs).toEqual(["users", "blog-posts"]);
});

test("a type, and a field without a join directive, belong to every subgraph of the type", () => {
  expect(ownership.findOwners("User")).toEqual(["users", "blog-posts"]);
  expect(ownership.findOwners("User.id")).toEqual(["users", "blog-posts"]);
});

test("a field belongs to the subgraph that resolves it, not to one that marks it @external", () => {
  expect(ownership.findOwners("User.name")).toEqual(["users"]);
});

test("an overridden field belongs to the subgraph that overrides it", () => {
  expect(ownership.findOwners("User.bio")).toEqual(["blog-posts"]);
});

test("an argument belongs to the owner of its field", () => {
  expect(ownership.findOwners("User.posts.first")).toEqual(["blog-posts"]);
});

test("an enum value belongs to the subgraph that defines it", () => {
  expect(ownership.findOwners("Role.READER")).toEqual(["users"]);
});

test("an unknown field belongs to the owners of its type, and an unknown type has no owner", () => {
  expect([ownership.has("User.age"), ownership.findOwners("User.age")]).toEqual([false, ["users", "blog-posts"]]);
  expect([ownership.has("Unknown"), ownership.findOwners("Unknown")]).toEqual([false, []]);
});
