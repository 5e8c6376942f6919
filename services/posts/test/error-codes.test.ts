import { readFileSync } from "node:fs";
import { collectFieldCodes, listFieldCodes } from "@tributary/kit/testing/field-codes";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adasArchived, adasPost, gracesPost, startPosts, usual } from "./fixtures.ts";

const sdl = readFileSync(new URL("../schema.graphql", import.meta.url), "utf8");
const queries = `{
  first: posts(first: 0) { nodes { id } }
  after: posts(after: "x") { nodes { id } }
  drafts: posts(status: DRAFT) { nodes { id } }
  _entities(representations: [{ __typename: "User", id: "1" }]) {
    ... on User {
      posts(first: 0) { id }
      first: postsConnection(first: 0) { nodes { id } }
      after: postsConnection(after: "x") { nodes { id } }
      drafts: postsConnection(status: DRAFT) { nodes { id } }
    }
  }
}`;
const mutations = `mutation ($title: String!, $id: ID!) {
  createPost(input: { title: $title }) { post { id } }
  updatePost(input: { id: $id, title: $title }) { post { id } }
  publishPost(input: { id: $id }) { post { id } }
  archivePost(input: { id: $id }) { post { id } }
}`;

let posts: TestService;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts.stop());

test("each field has each error code that its description lists", async () => {
  const [ada, reader] = await Promise.all([posts.issuer.token("1", usual), posts.issuer.token("2", [])]);
  const answered = await collectFieldCodes(posts, sdl, [
    [queries],
    [mutations, { title: "New", id: adasPost }],
    [mutations, { title: "New", id: adasPost }, reader],
    [mutations, { title: "New", id: gracesPost }, ada],
    [mutations, { title: "New", id: "99" }, ada],
    [mutations, { title: "", id: adasPost }, ada],
    ["mutation ($id: ID!) { archivePost(input: { id: $id }) { post { id } } }", { id: adasArchived }, ada],
  ]);
  expect(answered).toEqual(listFieldCodes(sdl));
});
