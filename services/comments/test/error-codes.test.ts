import { readFileSync } from "node:fs";
import { collectFieldCodes, listFieldCodes } from "@tributary/kit/testing/field-codes";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startComments, usual } from "./fixtures.ts";

const sdl = readFileSync(new URL("../schema.graphql", import.meta.url), "utf8");
const queries = `{
  first: comments(first: 0) { nodes { id } }
  after: comments(after: "x") { nodes { id } }
  _entities(representations: [{ __typename: "User", id: "1" }, { __typename: "Post", id: "1" }]) {
    ... on User { comments(first: 0) { id } }
    ... on Post {
      comments(first: 0) { id }
      first: commentsConnection(first: 0) { nodes { id } }
      after: commentsConnection(after: "x") { nodes { id } }
    }
  }
}`;
const mutations = `mutation ($body: String!, $id: ID!) {
  addComment(input: { postId: 1, body: $body }) { comment { id } }
  editComment(input: { id: $id, body: $body }) { comment { id } }
  deleteComment(input: { id: $id }) { comment { id } }
}`;

let comments: TestService;
beforeAll(async () => {
  comments = await startComments();
});
afterAll(() => comments.stop());

test("each field has each error code that its description lists", async () => {
  const [ada, grace, reader] = await Promise.all([
    comments.issuer.token("1", usual),
    comments.issuer.token("2", usual),
    comments.issuer.token("1", []),
  ]);
  const answered = await collectFieldCodes(comments, sdl, [
    [queries],
    [mutations, { body: "New.", id: "3" }],
    [mutations, { body: "New.", id: "3" }, reader],
    [mutations, { body: "New.", id: "3" }, grace],
    [mutations, { body: "New.", id: "99" }, ada],
    [mutations, { body: "", id: "3" }, ada],
    [mutations, { body: "New.", id: "5" }, grace],
  ]);
  expect(answered).toEqual(listFieldCodes(sdl));
});
