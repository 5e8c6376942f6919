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

test("a graph is known by the subgraph's own name", () => {
  expect(ownership.subgraphs).toEqual(["users", "blog-posts"]);
});

test("a type, and a field that bears no directive, belong to every subgraph of the type", () => {
  expect(ownership.findOwners("User")).toEqual(["users", "blog-posts"]);
  expect(ownership.findOwners("User.id")).toEqual(["users", "blog-posts"]);
});

test("a field belongs to whom it is joined from, not to whom it is external", () => {
  expect(ownership.findOwners("User.name")).toEqual(["users"]);
});

test("a field that was taken over belongs to the one who took it", () => {
  expect(ownership.findOwners("User.bio")).toEqual(["blog-posts"]);
});

test("an argument belongs to whom its field belongs", () => {
  expect(ownership.findOwners("User.posts.first")).toEqual(["blog-posts"]);
});

test("an enum value belongs to whom it is joined from", () => {
  expect(ownership.findOwners("Role.READER")).toEqual(["users"]);
});

test("what the supergraph does not have belongs to the owners of what is around it, or to nobody", () => {
  expect([ownership.has("User.age"), ownership.findOwners("User.age")]).toEqual([false, ["users", "blog-posts"]]);
  expect([ownership.has("Nobody"), ownership.findOwners("Nobody")]).toEqual([false, []]);
});
