import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linkOf, startComments, usual, writeComment } from "./fixtures.ts";

let nowMs = Date.now();
let comments: TestService;
let ada: string;
beforeAll(async () => {
  comments = await startComments(() => nowMs);
  ada = await comments.issuer.token("1", usual);
});
afterAll(() => comments.stop());

test("a comment has six fields, its text as `body`", async () => {
  const { status, body } = await comments.rest("GET", "/v2/comments/1");
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(["id", "postId", "authorId", "body", "createdAt", "editedAt"]);
  expect(body).toMatchObject({ id: "1", postId: "1", authorId: "2", body: "A lovely engine.", editedAt: null });
});

test("a list is an object without deleted comments, with cursors for the next and the previous page", async () => {
  for (const path of ["/v2/posts/1/comments?limit=2", "/v2/comments?limit=2&postId=1"]) {
    const first = await comments.rest("GET", path);
    expect(idsOf(first.body)).toEqual(["3", "2"]);
    expect(first.body.page).toEqual({ next: expect.any(String), prev: null });
    const second = await comments.rest("GET", `${path}&cursor=${first.body.page.next}`);
    expect([idsOf(second.body), second.body.page.next]).toEqual([["1"], null]);
    const back = await comments.rest("GET", linkOf(second.headers, "prev"));
    expect(back.text).toBe((await comments.rest("GET", `${path}&cursor=${second.body.page.prev}`)).text);
    expect(idsOf(back.body)).toEqual(["3", "2"]);
  }
  const empty = await comments.rest("GET", "/v2/posts/999/comments");
  expect(empty.body).toEqual({ data: [], page: { next: null, prev: null } });
});

test("a page has at most 1 MiB, including the surrounding object", async () => {
  const large = `insert into comments (post_id, author_id, body) select 60, 1, repeat('🎉', 5000) from generate_series(1, 60)`;
  await comments.database.database.rows("large", large);
  const first = await comments.rest("GET", "/v2/posts/60/comments?limit=100");
  expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(1_048_576);
  const rest = await comments.rest("GET", `/v2/posts/60/comments?limit=100&cursor=${first.body.page.next}`);
  expect(first.body.data.length + rest.body.data.length).toBe(60);
});

test("adding a comment responds with 201 and Location in this version", async () => {
  const body = { postId: "2", body: " Longer than I thought. " };
  const added = await comments.rest("POST", "/v2/comments", { token: ada, body });
  expect(added.status).toBe(201);
  expect(added.headers.get("location")).toBe(`/v2/comments/${added.body.id}`);
  expect(added.headers.get("etag")).toMatch(/^"\d+-v2\.[0-9a-f]{6}-public"$/);
  expect(added.body).toMatchObject({ postId: "2", authorId: "1", body: "Longer than I thought.", editedAt: null });
  expect((await comments.rest("GET", `/v2/comments/${added.body.id}`)).text).toBe(added.text);
});

test("every problem is reported at once, with the field names of this version", async () => {
  const body = { postId: "x", text: "?", authorId: "2" };
  const { status, body: problem } = await comments.rest("POST", "/v2/comments", { token: ada, body });
  const found = problem.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`);
  expect([status, found.sort()]).toEqual([
    422,
    ["#/authorId unknown_field", "#/body required", "#/postId invalid", "#/text unknown_field"],
  ]);
  const { id } = await writeComment(comments);
  for (const change of [{}, { body: null }, { text: "x" }, []]) {
    expect([change, (await patch(id, change)).status]).toEqual([change, 422]);
  }
});

test("a change needs If-Match with the current ETag", async () => {
  const { id } = await writeComment(comments);
  const etag = (await comments.rest("GET", `/v2/comments/${id}`)).headers.get("etag") ?? "";
  const unconditional = { token: ada, body: { body: "Changed." } };
  expect((await comments.rest("PATCH", `/v2/comments/${id}`, unconditional)).status).toBe(428);
  expect((await patch(id, { body: "Changed." }, `W/${etag}`)).status).toBe(412);
  const changed = await patch(id, { body: "Changed." }, etag);
  expect([changed.status, changed.body.body]).toEqual([200, "Changed."]);
  expect((await patch(id, { body: "Again." }, etag)).status).toBe(412);
});

test("after 15 minutes a change is INVALID_STATE", async () => {
  const { id, createdAt } = await writeComment(comments);
  nowMs = createdAt.getTime() + 15 * 60_000 + 1;
  const late = await patch(id, { body: "Changed." });
  nowMs = Date.now();
  expect([late.status, late.body.type]).toEqual([409, "/problems/invalid-state"]);
});

test("every request for a deleted comment is 410, for an unknown one 404", async () => {
  const { id } = await writeComment(comments);
  const path = `/v2/comments/${id}`;
  const removed = await comments.rest("DELETE", path, { token: ada });
  expect([removed.status, removed.text]).toEqual([204, ""]);
  const responses = [
    await comments.rest("GET", path),
    await comments.rest("HEAD", path),
    await patch(id, { body: "Again." }),
    await comments.rest("DELETE", path, { token: ada }),
  ];
  for (const { status, headers } of responses) {
    expect([status, headers.get("content-type")]).toEqual([410, "application/problem+json"]);
  }
  expect(responses[0]?.body).toMatchObject({ type: "/problems/gone", instance: path });
  expect((await comments.rest("GET", "/v2/comments/5")).status).toBe(410);
  for (const missing of ["999999", "0", "abc"]) {
    expect((await comments.rest("GET", `/v2/comments/${missing}`)).status).toBe(404);
    expect((await patch(missing, { body: "x" })).status).toBe(404);
    expect((await comments.rest("DELETE", `/v2/comments/${missing}`, { token: ada })).status).toBe(404);
  }
});

test("a malformed request is rejected with the matching status", async () => {
  const send = async (body: unknown, headers = {}) =>
    (await comments.rest("POST", "/v2/comments", { token: ada, body, headers })).status;
  expect(await send("{ broken")).toBe(400);
  expect(await send("body=x", { "content-type": "text/plain" })).toBe(415);
  expect(await send({ postId: "1", body: "x".repeat(70_000) })).toBe(413);
  expect((await comments.rest("POST", "/v2/comments/1")).status).toBe(405);
  expect((await comments.rest("GET", "/v2/comments?order=body")).status).toBe(400);
  expect((await comments.rest("GET", "/v2/comments?limit=0")).status).toBe(400);
});

function patch(id: string, body: unknown, ifMatch = "*") {
  return comments.rest("PATCH", `/v2/comments/${id}`, { token: ada, body, headers: { "if-match": ifMatch } });
}

function idsOf({ data }: { readonly data: readonly { readonly id: string }[] }): readonly string[] {
  return data.map(({ id }) => id);
}
