import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linkOf, startComments, usual, writeComment } from "./fixtures.ts";

let comments: TestService;
let ada: string;
let grace: string;
let keeper: string;
beforeAll(async () => {
  comments = await startComments();
  ada = await comments.issuer.token("1", usual);
  grace = await comments.issuer.token("2", usual);
  keeper = await comments.issuer.token("3", ["comments:write:all"]);
});
afterAll(() => comments.stop());

test("a comment in version 1 has six fields, the same for every caller", async () => {
  const open = await comments.rest("GET", "/v1/comments/1");
  expect(open.status).toBe(200);
  expect(open.headers.get("content-type")).toBe("application/json");
  expect(open.headers.get("vary")).toBeNull();
  expect(Object.keys(open.body)).toEqual(["id", "postId", "authorId", "text", "createdAt", "editedAt"]);
  expect(open.body).toMatchObject({ id: "1", postId: "1", authorId: "2", text: "A lovely engine.", editedAt: null });
  const own = await comments.rest("GET", "/v1/comments/1", { token: ada });
  expect([own.text, own.headers.get("etag")]).toEqual([open.text, open.headers.get("etag")]);
});

test("an edited comment has editedAt", async () => {
  const { body } = await comments.rest("GET", "/v1/comments/6");
  expect(body.editedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("HEAD has the headers of GET, without the body", async () => {
  const { status, headers, text } = await comments.rest("HEAD", "/v1/comments/1");
  expect([status, text]).toEqual([200, ""]);
  expect(Number(headers.get("content-length"))).toBeGreaterThan(100);
});

test("an unknown or deleted comment is a 404 problem", async () => {
  const paths = [
    "/v1/comments/999",
    "/v1/comments/0",
    "/v1/comments/abc",
    "/v1/comments/1/",
    "/v1/Comments/1",
    "/v1/comments/5",
  ];
  for (const path of paths) {
    const { status, headers, body } = await comments.rest("GET", path);
    expect([path, status, headers.get("content-type")]).toEqual([path, 404, "application/problem+json"]);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).toMatchObject({
      type: "/problems/not-found",
      status: 404,
      instance: path,
      requestId: expect.any(String),
    });
  }
});

test("an unsupported method is 405 with the supported ones in Allow", async () => {
  const { status, headers } = await comments.rest("POST", "/v1/comments/1");
  expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, PATCH, DELETE, OPTIONS"]);
  expect((await comments.rest("DELETE", "/v1/posts/1/comments")).headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  expect((await comments.rest("OPTIONS", "/v1/comments")).headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
});

test("lists contain no deleted comments", async () => {
  expect(await ids("/v1/comments?authorId=2")).toEqual(["1"]);
  expect(await ids("/v1/posts/2/comments")).toEqual(["6", "4"]);
  expect(await ids("/v1/comments?postId=2&authorId=1")).toEqual(["4"]);
});

test("a parent with an unknown or malformed id has no comments", async () => {
  const paths = [
    "/v1/posts/999/comments",
    "/v1/posts/x/comments",
    "/v1/comments?postId=0",
    "/v1/comments?authorId=a&postId=1",
  ];
  for (const path of paths) {
    const { status, text, headers } = await comments.rest("GET", path);
    expect([path, status, text]).toEqual([path, 200, "[]"]);
    expect(headers.get("link")).toBe(`<${path}>; rel="first"`);
  }
});

test("every list links to the next and the previous page", async () => {
  for (const [path, expected] of [
    ["/v1/posts/1/comments?limit=2", ["3", "2", "1"]],
    ["/v1/comments?limit=2&postId=1", ["3", "2", "1"]],
  ] as const) {
    const first = await comments.rest("GET", path);
    expect(first.body.map(({ id }: { id: string }) => id)).toEqual(expected.slice(0, 2));
    const second = await comments.rest("GET", linkOf(first.headers, "next"));
    expect(second.body.map(({ id }: { id: string }) => id)).toEqual(expected.slice(2));
    const back = await comments.rest("GET", linkOf(second.headers, "prev"));
    expect(back.text).toBe(first.text);
    expect(linkOf(back.headers, "first")).toBe(path);
  }
});

test("unknown, repeated and out-of-range parameters are rejected, and a cursor is valid only with its filters", async () => {
  const next = linkOf((await comments.rest("GET", "/v1/comments?limit=1")).headers, "next");
  const cursor = new URL(next, "http://x").searchParams.get("cursor");
  const refused = {
    "/v1/comments?order=text": "unknown-parameter",
    "/v1/posts/1/comments?authorId=1": "unknown-parameter",
    "/v1/comments/1?fields=text": "unknown-parameter",
    "/v1/comments?limit=0": "malformed-request",
    "/v1/comments?limit=101": "malformed-request",
    "/v1/comments?limit=1&limit=2": "malformed-request",
    "/v1/comments?cursor=forged": "invalid-cursor",
    [`/v1/comments?postId=1&cursor=${cursor}`]: "invalid-cursor",
    [`/v1/posts/1/comments?cursor=${cursor}`]: "invalid-cursor",
  };
  for (const [path, type] of Object.entries(refused)) {
    const { status, body } = await comments.rest("GET", path);
    expect([path, status, body.type]).toEqual([path, 400, `/problems/${type}`]);
  }
});

test("a page ends at 1 MiB, and the next page continues", async () => {
  const { database } = comments.database;
  const large = `insert into comments (post_id, author_id, body) select 50, 1, repeat('🎉', 5000) from generate_series(1, 60)`;
  await database.rows("large", large);
  const first = await comments.rest("GET", "/v1/posts/50/comments?limit=100");
  expect(first.body.length).toBeLessThan(60);
  expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(1_048_576);
  const rest = await comments.rest("GET", linkOf(first.headers, "next"));
  expect(first.body.length + rest.body.length).toBe(60);
});

test("adding a comment responds with 201, Location, ETag and the comment", async () => {
  const added = await comments.rest("POST", "/v1/comments", {
    token: ada,
    body: { postId: "2", text: " Longer than I thought. " },
  });
  expect(added.status).toBe(201);
  expect(added.headers.get("location")).toBe(`/v1/comments/${added.body.id}`);
  expect(added.headers.get("etag")).toMatch(/^"\d+-v1\.[0-9a-f]{6}-public"$/);
  expect(added.body).toMatchObject({ postId: "2", authorId: "1", text: "Longer than I thought.", editedAt: null });
  expect((await comments.rest("GET", `/v1/comments/${added.body.id}`)).text).toBe(added.text);
});

test("a malformed request is rejected with the matching status", async () => {
  const send = (body: unknown, headers = {}) => comments.rest("POST", "/v1/comments", { token: ada, body, headers });
  const good = { postId: "1", text: "Hello." };
  expect((await send("{ broken")).status).toBe(400);
  expect((await send("text=Hello", { "content-type": "text/plain" })).status).toBe(415);
  expect((await send({ ...good, text: "x".repeat(70_000) })).status).toBe(413);
  expect((await send(undefined)).status).toBe(422);
  expect((await comments.rest("POST", "/v1/comments", { body: good })).status).toBe(401);
  expect((await comments.rest("POST", "/v1/comments", { token: keeper, body: good })).status).toBe(403);
});

test("every problem is reported at once, with the field names of version 1", async () => {
  const body = { postId: "x", text: "", body: "?", authorId: "2", id: "1" };
  const { status, body: problem } = await comments.rest("POST", "/v1/comments", { token: ada, body });
  expect([status, problem.type]).toEqual([422, "/problems/bad-user-input"]);
  const found = problem.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`);
  expect(found.sort()).toEqual([
    "#/authorId unknown_field",
    "#/body unknown_field",
    "#/id unknown_field",
    "#/postId invalid",
    "#/text length",
  ]);
});

test("a change contains only the text, which is required", async () => {
  const { id } = await writeComment(comments);
  const patch = async (body: unknown) => {
    const response = await comments.rest("PATCH", `/v1/comments/${id}`, {
      token: ada,
      body,
      headers: { "if-match": "*" },
    });
    return [response.status, response.body.errors?.map(({ pointer }: { pointer: string }) => pointer)];
  };
  expect(await patch({ text: "Changed.", postId: "2" })).toEqual([422, ["#/postId"]]);
  expect(await patch({ text: null })).toEqual([422, ["#/text"]]);
  expect(await patch({})).toEqual([422, ["#/text"]]);
  expect(await patch([])).toEqual([422, ["#"]]);
});

test("a change needs If-Match with the current ETag", async () => {
  const { id } = await writeComment(comments);
  const { headers } = await comments.rest("GET", `/v1/comments/${id}`);
  const etag = headers.get("etag") ?? "";
  const patch = (ifMatch: Record<string, string>) =>
    comments.rest("PATCH", `/v1/comments/${id}`, { token: ada, body: { text: "Changed." }, headers: ifMatch });
  expect((await patch({})).status).toBe(428);
  expect((await patch({ "if-match": '"7-v1-public"' })).status).toBe(412);
  expect((await patch({ "if-match": `W/${etag}` })).status).toBe(412);
  const changed = await patch({ "if-match": etag });
  expect(changed.status).toBe(200);
  expect(changed.body).toMatchObject({ id, text: "Changed.", editedAt: expect.any(String) });
  expect(changed.headers.get("etag")).not.toBe(etag);
  expect((await patch({ "if-match": etag })).status).toBe(412);
});

test("a deletion responds with 204, a second one with 404", async () => {
  const { id } = await writeComment(comments);
  const path = `/v1/comments/${id}`;
  const deleted = await comments.rest("DELETE", path, { token: ada });
  expect([deleted.status, deleted.text]).toEqual([204, ""]);
  expect((await comments.rest("DELETE", path, { token: ada })).status).toBe(404);
  expect((await comments.rest("GET", path)).status).toBe(404);
  const headers = { "if-match": "*" };
  expect((await comments.rest("PATCH", path, { token: ada, body: { text: "Again." }, headers })).status).toBe(404);
});

test("If-Match is optional for a deletion", async () => {
  const { id } = await writeComment(comments);
  const path = `/v1/comments/${id}`;
  const remove = (ifMatch: string) => comments.rest("DELETE", path, { token: ada, headers: { "if-match": ifMatch } });
  expect((await remove('"7-v1-public"')).status).toBe(412);
  expect((await remove((await comments.rest("GET", path)).headers.get("etag") ?? "")).status).toBe(204);
});

test("a change reports a missing comment first, then failed conditions, then invalid content (RFC 9110, 13.2.1)", async () => {
  const path = `/v1/comments/${(await writeComment(comments)).id}`;
  const patch = async (path: string, body: object, headers: Record<string, string>, token = ada) =>
    (await comments.rest("PATCH", path, { token, body, headers })).status;
  const [stale, any] = [{ "if-match": '"7-v1-public"' }, { "if-match": "*" }];
  const [sound, unsound] = [{ text: "Changed." }, { colour: "red" }];
  for (const body of [sound, unsound]) {
    for (const headers of [{}, stale, any]) expect(await patch("/v1/comments/9999", body, headers, ada)).toBe(404);
    expect(await patch(path, body, {})).toBe(428);
    expect(await patch(path, body, stale)).toBe(412);
  }
  expect(await patch(path, unsound, any)).toBe(422);
  for (const headers of [{}, stale, any]) expect(await patch(path, unsound, headers, grace)).toBe(403);
});

async function ids(path: string): Promise<readonly string[]> {
  const { status, body } = await comments.rest("GET", path);
  expect(status).toBe(200);
  return body.map(({ id }: { id: string }) => id);
}
