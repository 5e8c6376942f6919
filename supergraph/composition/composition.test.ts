import { expect, test } from "vitest";
import { readOwnership } from "./ownership.ts";
import { findCoordinate, parseSubgraph, placeOfNode } from "./places.ts";

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

const source = {
  name: "users",
  folder: "services/users",
  url: "http://127.0.0.1:4001/graphql",
  owner: "@tributary/users-team",
  file: "services/users/schema.graphql",
  sdl: `extend type User {
  "The user's posts."
  posts(first: Int): [ID]
}
"A user."
type User @key(fields: "id") {
  id: ID!
}
enum Role {
  READER
}
union Thing = User
input NewUser { name: String }
`,
};
const { document } = parseSubgraph(source);

test.each([
  ["User.id", 7, 3],
  ["User.posts", 3, 3],
  ["User.posts.first", 3, 9],
  ["Role.READER", 10, 3],
  ["Thing.User", 12, 15],
  ["NewUser.name", 13, 17],
  ["User.posts.@deprecated", 3, 3],
])("the place of %s is its name, after the description", (coordinate, line, column) => {
  const match = findCoordinate(document, coordinate);
  expect(match?.exact).toBe(true);
  expect(match && placeOfNode(match.node, [source])).toMatchObject({ owner: source.owner, line, column });
});

test("an unknown argument is found at its field, and an unknown type is not found", () => {
  expect(findCoordinate(document, "User.posts.last")).toMatchObject({
    exact: false,
    node: { name: { value: "posts" } },
  });
  expect(findCoordinate(document, "Unknown.id")).toBeUndefined();
});

test("a node from an unlisted file has no place", () => {
  const match = findCoordinate(document, "User.id");
  expect(match && placeOfNode(match.node, [])).toBeUndefined();
});
