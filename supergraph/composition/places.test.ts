import { expect, test } from "vitest";
import { findCoordinate, parseSubgraph, placeOfNode } from "./places.ts";

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
