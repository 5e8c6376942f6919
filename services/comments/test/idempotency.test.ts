import { defineIdempotencyTests } from "@tributary/kit/testing/idempotency";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll } from "vitest";
import { startComments } from "./fixtures.ts";

let comments: TestService;
beforeAll(async () => (comments = await startComments()));
afterAll(() => comments.stop());

defineIdempotencyTests({
  service: () => comments,
  scope: "comments:write",
  path: "/comments",
  table: "comments",
  statement: "insert-comment",
  mutation: `mutation ($input: AddCommentInput!) { created: addComment(input: $input) { row: comment {
    id body author { id } post { id } createdAt editedAt deletedAt } } }`,
  bodies: (text) => ({
    v1: { postId: "1", text },
    v2: { postId: "1", body: text },
    graphql: { body: text, postId: "1" },
  }),
  change: "update comments set body = 'Changed.', edited_at = now() where id = $1",
});
