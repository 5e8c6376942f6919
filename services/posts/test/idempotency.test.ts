import { defineIdempotencyTests } from "@tributary/kit/testing/idempotency";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPosts, usual } from "./fixtures.ts";

let posts: TestService;
beforeAll(async () => (posts = await startPosts()));
afterAll(() => posts.stop());

defineIdempotencyTests({
  service: () => posts,
  scope: "posts:write",
  path: "/posts",
  table: "posts",
  statement: "insert-post",
  mutation: `mutation ($input: CreatePostInput!) { created: createPost(input: $input) { row: post {
    id title body content { format text html } status author { id } createdAt updatedAt publishedAt } } }`,
  bodies: (text) => ({
    v1: { title: "A title", body: text },
    v2: { title: "A title", content: { format: "PLAIN", text } },
    graphql: { title: "A title", content: { text, format: "PLAIN" } },
  }),
  change:
    "update posts set title = 'Changed', body = 'Changed.', status = 'PUBLISHED', published_at = now() where id = $1",
});

test("a missing text equals null and an absent format, and differs from an empty text", async () => {
  const ada = await posts.issuer.token("1", usual);
  const create = async (path: string, body: object) => {
    const headers = { "idempotency-key": "no-text" };
    return (await posts.rest("POST", path, { token: ada, body, headers })).status;
  };
  expect(await create("/v1/posts", { title: "No text" })).toBe(201);
  expect(await create("/v1/posts", { title: "No text", body: null })).toBe(201);
  expect(await create("/v2/posts", { title: " No text ", content: null })).toBe(201);
  expect(await create("/v1/posts", { title: "No text", body: "" })).toBe(422);
  expect(await create("/v2/posts", { title: "No text", content: { format: "MARKDOWN", text: "" } })).toBe(422);
});
