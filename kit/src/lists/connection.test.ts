import { expect, test } from "vitest";
import { readConnectionRequest, readFirst, toConnection } from "./connection.ts";
import { createCursors } from "./cursor.ts";

test("a connection has an edge for each node, and cursors for its ends", () => {
  const cursors = createCursors(["a key for this test"]);
  const connection = toConnection({ items: ["b", "a"], hasNext: true, hasPrev: false }, cursors, "letters", (it) => it);
  expect(connection.nodes).toEqual(["b", "a"]);
  expect(connection.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  expect(readConnectionRequest({ first: 5, after: connection.pageInfo.endCursor }, cursors, "letters")).toEqual({
    limit: 5,
    position: { direction: "next", id: "a" },
  });
  expect(
    toConnection({ items: [], hasNext: false, hasPrev: false }, cursors, "letters", String).pageInfo.endCursor,
  ).toBeNull();
  expect(readFirst(null)).toBe(20);
});
