import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startComments, usual, writeComment } from "./fixtures.ts";

const minuteMs = 60_000;

let nowMs = 0;
let comments: TestService;
let ada: string;
beforeAll(async () => {
  comments = await startComments(() => nowMs);
  ada = await comments.issuer.token("1", usual);
});
afterAll(() => comments.stop());

test("an author may change a comment up to 15 minutes after writing it, through both endpoints", async () => {
  const { id, createdAt } = await writeComment(comments);
  nowMs = createdAt.getTime() + 15 * minuteMs;
  expect((await editThroughGraph(id)).data.editComment.comment.body).toBe("Changed.");
  expect((await editThroughRest(id)).status).toBe(200);
});

test("a millisecond later the change is INVALID_STATE, through both endpoints", async () => {
  const { id, createdAt } = await writeComment(comments, "Kept.");
  nowMs = createdAt.getTime() + 15 * minuteMs + 1;
  expect((await editThroughGraph(id)).errors?.[0]?.extensions.code).toBe("INVALID_STATE");
  const { status, body } = await editThroughRest(id);
  expect([status, body.type]).toEqual([409, "/problems/invalid-state"]);
  expect((await comments.rest("GET", `/v1/comments/${id}`)).body).toMatchObject({ text: "Kept.", editedAt: null });
});

test("an edit does not extend the 15 minutes", async () => {
  const { id, createdAt } = await writeComment(comments);
  nowMs = createdAt.getTime() + 14 * minuteMs;
  expect((await editThroughRest(id)).status).toBe(200);
  nowMs = createdAt.getTime() + 16 * minuteMs;
  expect((await editThroughRest(id)).status).toBe(409);
});

test("INVALID_STATE after 15 minutes precedes PRECONDITION_FAILED", async () => {
  const { id, createdAt } = await writeComment(comments);
  nowMs = createdAt.getTime() + 16 * minuteMs;
  expect((await editThroughRest(id, '"7-v1-public"')).status).toBe(409);
});

test("a deletion has no time limit", async () => {
  const { id, createdAt } = await writeComment(comments);
  nowMs = createdAt.getTime() + 365 * 24 * 60 * minuteMs;
  expect((await comments.rest("DELETE", `/v1/comments/${id}`, { token: ada })).status).toBe(204);
});

function editThroughGraph(id: string) {
  const edit = `mutation ($input: EditCommentInput!) { editComment(input: $input) { comment { body } } }`;
  return comments.graphql(edit, { input: { id, body: "Changed." } }, ada);
}

function editThroughRest(id: string, ifMatch = "*") {
  const headers = { "if-match": ifMatch };
  return comments.rest("PATCH", `/v1/comments/${id}`, { token: ada, body: { text: "Changed." }, headers });
}
