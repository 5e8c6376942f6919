import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestService } from "@tributary/kit/testing/service";
import { adasDraft, adasPost, startPosts } from "./fixtures.ts";

// Which GraphQL responses a cache may store, and their groups.

let posts: TestService;
beforeAll(async () => (posts = await startPosts()));
afterAll(() => posts.stop());

test.each([
  [`{ post(id: "${adasPost}") { title content { html } author { id } } }`, [`posts:${adasPost}`]],
  [`{ post(id: "99") { title } }`, ["posts:99"]],
  [`{ post(id: "x\\" y") { title } }`, []],
  [`{ posts { edges { node { title } } } }`, ["posts"]],
  [`{ posts(authorId: 1) { edges { node { title } } } }`, ["posts:by-1"]],
  [
    `{ _entities(representations: [{ __typename: "Post", id: "${adasPost}" }, { __typename: "User", id: "2" }]) {
      ... on Post { title } ... on User { posts { title } } } }`,
    [`posts:${adasPost}`, "posts:by-2"],
  ],
])("the response to %s may be stored, for every caller", async (query, groups) => {
  expect(await posts.cacheMetadataOf(query)).toMatchObject({ seconds: 10, groups });
  const token = await posts.issuer.token("1", ["posts:read:all"]);
  expect(await posts.cacheMetadataOf(query, token)).toMatchObject({ seconds: 10, groups });
});

test.each([
  `{ post(id: "${adasDraft}") { title } }`,
  `{ posts(status: DRAFT) { edges { node { title } } } }`,
  `{ a: post(id: "${adasPost}") { title } b: post(id: "${adasDraft}") { title } }`,
  `{ posts(first: 0) { edges { node { title } } } }`,
])("the response to %s must not be stored: it depends on the caller, or has errors", async (query) => {
  expect(await posts.cacheMetadataOf(query)).toBeUndefined();
});

test("nothing is recorded unless the request wants it", async () => {
  expect(await posts.graphql(`{ post(id: "${adasPost}") { title } }`)).not.toHaveProperty("extensions");
});
