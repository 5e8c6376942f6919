import { afterAll, beforeAll, expect, test } from "vitest";
import { startComments } from "./fixtures.ts";

// Which GraphQL responses a cache may store, and their groups.

let service: Awaited<ReturnType<typeof startComments>>;
beforeAll(async () => (service = await startComments()));
afterAll(() => service.stop());

test.each([
  [`{ comment(id: "1") { body author { id } } }`, ["comments:1"]],
  [`{ comments { edges { node { body } } } }`, ["comments"]],
  [`{ comments(postId: 1) { edges { node { body } } } }`, ["comments:on-1"]],
  [
    `{ _entities(representations: [{ __typename: "Post", id: "1" }, { __typename: "User", id: "2" }]) {
      ... on Post { commentCount comments { body } commentsConnection { edges { node { body } } } } ... on User { comments { body } } } }`,
    ["comments:on-1", "comments:by-2"],
  ],
])("the response to %s may be stored", async (query, groups) => {
  expect(await service.cacheMetadataOf(query)).toMatchObject({ seconds: 10, groups });
});

test.each([`{ comments(first: 0) { edges { node { body } } } }`])(
  "the response to %s must not be stored: it depends on the caller, or has errors",
  async (query) => {
    expect(await service.cacheMetadataOf(query)).toBeUndefined();
  },
);
