import { walkList } from "@tributary/kit/testing/pages";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestService } from "@tributary/kit/testing/service";
import {
  addPost,
  adasArchived,
  adasDraft,
  adasEmptyPost,
  adasPost,
  gracesDraft,
  gracesPost,
  startPosts,
  usual,
} from "./fixtures.ts";
import { createPostStore } from "../src/store.ts";

let posts: TestService;
let ada: string;
let reader: string;
beforeAll(async () => {
  posts = await startPosts();
  ada = await posts.issuer.token("1", usual);
  reader = await posts.issuer.token("3", ["posts:read:all"]);
});
afterAll(() => posts.stop());

test("a published post in version 1 has the same response for every caller, which shared caches may store", async () => {
  const { status, headers, body, text } = await posts.rest("GET", "/v1/posts/1");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("vary")).toBeNull();
  expect(headers.get("etag")).toMatch(/^"\d+-v1\.[0-9a-f]{6}-public"$/);
  expect(body).toEqual({
    id: "1",
    title: "Notes on the Engine",
    body: "It *weaves* algebra.",
    published: true,
    authorId: "1",
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: body.createdAt,
    publishedAt: "2026-01-31T09:30:00.000Z",
  });
  expect((await posts.rest("GET", "/v1/posts/1", { token: ada })).text).toBe(text);
});

test("a draft is a private response for its author, and 404 for others", async () => {
  const own = await posts.rest("GET", `/v1/posts/${adasDraft}`, { token: ada });
  expect(own.body).toMatchObject({ published: false, publishedAt: null });
  expect([own.headers.get("cache-control"), own.headers.get("vary")]).toEqual(["private, no-cache", "Authorization"]);
  const hidden = await posts.rest("GET", `/v1/posts/${adasDraft}`);
  expect([hidden.status, hidden.headers.get("cache-control")]).toEqual([404, "no-store"]);
});

test("HEAD has the headers of GET, without the body", async () => {
  const { status, headers, text } = await posts.rest("HEAD", "/v1/posts/1");
  expect([status, text]).toEqual([200, ""]);
  expect(Number(headers.get("content-length"))).toBeGreaterThan(100);
});

test("an unknown path or id is a 404 problem", async () => {
  const missing = [
    "/v1/posts/999",
    "/v1/posts/0",
    "/v1/posts/abc",
    "/v1/posts/1/",
    "/v1/Posts/1",
    "/v3/posts/1",
    "/v1/nothing",
  ];
  for (const path of missing) {
    const { status, headers, body } = await posts.rest("GET", path);
    expect([path, status, headers.get("content-type")]).toEqual([path, 404, "application/problem+json"]);
    expect(body).toMatchObject({ type: "/problems/not-found", status: 404, requestId: expect.any(String) });
  }
});

test("an unsupported method is 405 with the supported ones in Allow", async () => {
  const { status, headers } = await posts.rest("DELETE", "/v1/posts/1");
  expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, PATCH, OPTIONS"]);
  expect((await posts.rest("OPTIONS", "/v1/posts")).headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
  expect((await posts.rest("POST", "/v1/users/1/posts")).headers.get("allow")).toBe("GET, HEAD, OPTIONS");
});

test("a list is a bare array of published posts, newest first, which shared caches may store", async () => {
  const { headers, body, text } = await posts.rest("GET", "/v1/posts");
  expect(idsOf(body)).toEqual([adasEmptyPost, gracesPost, adasPost]);
  expect([headers.get("cache-control"), headers.get("vary")]).toEqual([expect.stringMatching(/^public/), null]);
  expect((await posts.rest("GET", "/v1/posts", { token: ada })).text).toBe(text);
});

test("a list by status is private, and every response has Vary: Authorization", async () => {
  const list = async (path: string, token?: string) => {
    const { status, headers, body } = await posts.rest("GET", path, token === undefined ? {} : { token });
    expect(headers.get("vary")).toBe("Authorization");
    expect(headers.get("cache-control")).toBe(status === 200 ? "private, no-cache" : "no-store");
    return status === 200 ? idsOf(body) : status;
  };
  expect(await list("/v1/posts?status=PUBLISHED")).toEqual([adasEmptyPost, gracesPost, adasPost]);
  expect(await list("/v1/posts?status=DRAFT")).toBe(401);
  expect(await list("/v1/posts?status=DRAFT", ada)).toEqual([adasDraft]);
  expect(await list("/v1/posts?status=DRAFT", reader)).toEqual([gracesDraft, adasDraft]);
  expect(await list("/v1/users/1/posts?status=ARCHIVED")).toBe(401);
  expect(await list("/v1/users/1/posts?status=ARCHIVED", ada)).toEqual([adasArchived]);
  expect(await list("/v1/users/2/posts?status=DRAFT", ada)).toEqual([]);
  expect(await list("/v1/users/2/posts?status=DRAFT", reader)).toEqual([gracesDraft]);
});

test("a list can be filtered by author and by words of the title", async () => {
  expect(idsOf((await posts.rest("GET", "/v1/posts?authorId=1&search=num%20bern")).body)).toEqual([adasEmptyPost]);
  expect(idsOf((await posts.rest("GET", "/v1/posts?authorId=2")).body)).toEqual([gracesPost]);
});

test("an unknown user has no posts", async () => {
  expect(idsOf((await posts.rest("GET", "/v1/users/1/posts")).body)).toEqual([adasEmptyPost, adasPost]);
  for (const id of ["999", "0", "abc"]) expect((await posts.rest("GET", `/v1/users/${id}/posts`)).text).toBe("[]");
});

test("lists link to the next and the previous page", async () => {
  for (const path of ["/v1/posts?limit=1", "/v1/posts?limit=1&authorId=1", "/v1/users/1/posts?limit=1"]) {
    const first = await posts.rest("GET", path);
    expect(idsOf(first.body)).toEqual([adasEmptyPost]);
    const second = await posts.rest("GET", linkOf(first.headers, "next"));
    expect(second.body).toHaveLength(1);
    expect((await posts.rest("GET", linkOf(second.headers, "prev"))).text).toBe(first.text);
  }
});

test("a page ends at 1 MiB, and the next page continues", async () => {
  const text = `insert into posts (author_id, title, body, status, published_at)
    select 77, 'Long', repeat('x', 100000), 'PUBLISHED', now() from generate_series(1, 12)`;
  await posts.database.database.rows("long-posts", text);
  const first = await posts.rest("GET", "/v1/users/77/posts?limit=50");
  expect(first.body).toHaveLength(10);
  const second = await posts.rest("GET", linkOf(first.headers, "next"));
  expect(second.body).toHaveLength(2);
  for (const { headers } of [first, second]) {
    const known = { "if-none-match": headers.get("etag") ?? "" };
    const url = headers === first.headers ? "/v1/users/77/posts?limit=50" : linkOf(first.headers, "next");
    expect((await posts.rest("GET", url, { headers: known })).status).toBe(304);
  }
  const back = await posts.rest("GET", linkOf(second.headers, "prev"));
  expect([back.body, linkOf(back.headers, "prev")]).toEqual([first.body, "no such link"]);
  await posts.database.database.rows("no-long-posts", "delete from posts where author_id = 77");
});

test("a page of long posts reads the rows that it shows and one more", async () => {
  const text = `insert into posts (author_id, title, body, status, published_at)
    select 78, 'Long', case when n % 2 = 0 then repeat('€', 100000) end, 'PUBLISHED', now() from generate_series(1, 20) as n`;
  await posts.database.database.rows("long-posts-78", text);
  const list = { status: "PUBLISHED", authorId: "78" } as const;
  const store = createPostStore(posts.database.database);
  for (const sort of [undefined, "oldest"] as const) {
    const read = async (bytesMax?: number) =>
      (await store.listPosts({ ...list, sort }, { limit: 100, bytesMax })).items;
    const all = await read();
    // 300,000 bytes each; every other one has no text.
    expect([all.length, (await read(1_048_576)).length]).toEqual([20, sort === "oldest" ? 8 : 7]);
    const within = idsOf(await read(1_048_576));
    expect(within).toEqual(idsOf(all).slice(0, within.length));
  }
  const walk = await walkList(posts, "/v2/users/78/posts?limit=100");
  expect(walk.onward).toHaveLength(20);
  expect(walk.back).toEqual(walk.onward);
  await posts.database.database.rows("no-long-posts-78", "delete from posts where author_id = 78");
});

test("unknown, repeated and out-of-range parameters are rejected, and a cursor is valid only with its filters", async () => {
  const next = linkOf((await posts.rest("GET", "/v1/posts?limit=1")).headers, "next");
  const cursor = new URL(next, "http://x").searchParams.get("cursor");
  const refused = {
    "/v1/posts?order=title": [400, "/problems/unknown-parameter"],
    "/v1/users/1/posts?authorId=2": [400, "/problems/unknown-parameter"],
    "/v1/posts/1?fields=title": [400, "/problems/unknown-parameter"],
    "/v1/posts?limit=0": [400, "/problems/malformed-request"],
    "/v1/posts?limit=101": [400, "/problems/malformed-request"],
    "/v1/posts?limit=1&limit=2": [400, "/problems/malformed-request"],
    "/v1/posts?cursor=forged": [400, "/problems/invalid-cursor"],
    [`/v1/posts?authorId=1&cursor=${cursor}`]: [400, "/problems/invalid-cursor"],
    [`/v1/users/1/posts?cursor=${cursor}`]: [400, "/problems/invalid-cursor"],
    "/v1/posts?status=LOST": [400, "/problems/malformed-request"],
    "/v1/posts?search=": [400, "/problems/malformed-request"],
  };
  for (const [path, expected] of Object.entries(refused)) {
    const { status, body } = await posts.rest("GET", path);
    expect([path, status, body.type]).toEqual([path, ...expected]);
  }
});

test("creating a post responds with 201, Location, ETag and the caller's draft", async () => {
  const created = await posts.rest("POST", "/v1/posts", { token: ada, body: { title: "New", body: "  Text\n" } });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({ title: "New", body: "  Text\n", published: false, authorId: "1" });
  expect(created.headers.get("location")).toBe(`/v1/posts/${created.body.id}`);
  expect(created.headers.get("etag")).toMatch(/^"\d+-v1\.[0-9a-f]{6}-private"$/);
  expect(created.headers.get("cache-control")).toBe("no-store");
  const read = await posts.rest("GET", `/v1/posts/${created.body.id}`, { token: ada });
  expect([read.text, read.headers.get("etag")]).toEqual([created.text, created.headers.get("etag")]);
});

test("a malformed request is rejected with the matching status", async () => {
  const post = (body: unknown, headers = {}) => posts.rest("POST", "/v1/posts", { token: ada, body, headers });
  expect((await post("{ broken")).status).toBe(400);
  expect((await post("title=New", { "content-type": "text/plain" })).status).toBe(415);
  expect((await post({ title: "x".repeat(70_000) })).status).toBe(413);
  expect((await post(undefined)).status).toBe(422);
  expect((await post([])).status).toBe(422);
  expect((await posts.rest("POST", "/v1/posts", { body: "{ broken" })).status).toBe(400);
  expect((await posts.rest("POST", "/v1/posts", { body: {} })).status).toBe(401);
});

test("fields that clients cannot set are rejected, every problem at once", async () => {
  const fields = { title: "", id: "9", authorId: "2", status: "PUBLISHED", publishedAt: "now", content: {} };
  const created = await posts.rest("POST", "/v1/posts", { token: ada, body: { ...fields, published: true } });
  expect(created.status).toBe(422);
  expect(pointersOf(created.body)).toEqual([
    "#/authorId",
    "#/content",
    "#/id",
    "#/published",
    "#/publishedAt",
    "#/status",
    "#/title",
  ]);
  const headers = { "if-match": "*" };
  const changed = await posts.rest("PATCH", "/v1/posts/1", {
    token: ada,
    body: { ...fields, published: null },
    headers,
  });
  expect(changed.status).toBe(422);
  expect(pointersOf(changed.body)).toEqual([
    "#/authorId",
    "#/content",
    "#/id",
    "#/published",
    "#/publishedAt",
    "#/status",
    "#/title",
  ]);
});

test("a change reports a missing post first, then failed conditions, then invalid content (RFC 9110, 13.2.1)", async () => {
  const path = `/v1/posts/${await addPost(posts, "PUBLISHED")}`;
  const patch = async (path: string, body: object, headers: Record<string, string>, token = ada) =>
    (await posts.rest("PATCH", path, { token, body, headers })).status;
  const [stale, any] = [{ "if-match": '"7-v1-public"' }, { "if-match": "*" }];
  const [sound, unsound] = [{ title: "Changed" }, { colour: "red" }];
  for (const body of [sound, unsound]) {
    for (const headers of [{}, stale, any]) expect(await patch("/v1/posts/9999", body, headers, ada)).toBe(404);
    expect(await patch(path, body, {})).toBe(428);
    expect(await patch(path, body, stale)).toBe(412);
  }
  expect(await patch(path, unsound, any)).toBe(422);
});

test("a change needs If-Match with the current ETag", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const etag = (await posts.rest("GET", `/v1/posts/${id}`)).headers.get("etag") ?? "";
  const patch = (headers: Record<string, string>, body: object = { title: "Changed" }) =>
    posts.rest("PATCH", `/v1/posts/${id}`, { token: ada, body, headers });
  expect((await patch({})).status).toBe(428);
  expect((await patch({ "if-match": '"7-v1-public"' })).status).toBe(412);
  expect((await patch({ "if-match": `W/${etag}` })).status).toBe(412);
  const changed = await patch({ "if-match": etag });
  expect([changed.status, changed.body.title, changed.body.body]).toEqual([200, "Changed", "Text."]);
  expect((await patch({ "if-match": etag })).status).toBe(412);
  const now = { "if-match": changed.headers.get("etag") ?? "" };
  const same = await patch(now, { title: "Changed", published: true });
  expect([same.status, same.headers.get("etag")]).toEqual([200, changed.headers.get("etag")]);
  expect((await patch(now, { body: null })).body.body).toBeNull();
});

test("of many concurrent changes with the same ETag one succeeds", async () => {
  const path = `/v1/posts/${await addPost(posts, "PUBLISHED")}`;
  const headers = { "if-match": (await posts.rest("GET", path)).headers.get("etag") ?? "" };
  const patch = (title: string) => posts.rest("PATCH", path, { token: ada, body: { title }, headers });
  const statuses = (await Promise.all(["A", "B", "C", "D", "E"].map(patch))).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412, 412]);
});

test("published true publishes, also with other changes; published false archives a published post", async () => {
  const id = await addPost(posts, "DRAFT");
  const patch = async (body: object) => {
    const { status, body: post } = await posts.rest("PATCH", `/v1/posts/${id}`, {
      token: ada,
      body,
      headers: { "if-match": "*" },
    });
    const { status: state } = (await posts.graphql(`{ post(id: ${id}) { status } }`, {}, ada)).data.post;
    return [status, post.title, post.published, state];
  };
  expect(await patch({ published: false })).toEqual([200, "Of its own", false, "DRAFT"]);
  expect(await patch({ published: true, title: "Ready" })).toEqual([200, "Ready", true, "PUBLISHED"]);
  const first = (await posts.rest("GET", `/v1/posts/${id}`)).body;
  expect(await patch({ published: false })).toEqual([200, "Ready", false, "ARCHIVED"]);
  expect(await patch({ published: true })).toEqual([200, "Ready", true, "PUBLISHED"]);
  expect((await posts.rest("GET", `/v1/posts/${id}`)).body).toEqual(first);
});

function idsOf(list: readonly { readonly id: string }[]): readonly string[] {
  return list.map(({ id }) => id);
}

function pointersOf(problem: { readonly errors: readonly { readonly pointer: string }[] }): readonly string[] {
  return problem.errors.map(({ pointer }) => pointer).sort();
}

function linkOf(headers: Headers, rel: string): string {
  const link = (headers.get("link") ?? "").split(", ").find((part) => part.endsWith(`rel="${rel}"`));
  return link?.slice(1, link.indexOf(">")) ?? "no such link";
}
