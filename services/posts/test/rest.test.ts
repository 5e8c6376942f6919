import { expectedListOrder, readListOrder } from "@tributary/kit/testing/list-order";
import { walkList } from "@tributary/kit/testing/pages";
import { linkOf } from "@tributary/kit/testing/response-headers";
import type { TestService } from "@tributary/kit/testing/service";
import { postFields } from "../src/model.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPostStore } from "../src/store.ts";
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

let posts: TestService;
let ada: string;
let reader: string;
beforeAll(async () => {
  posts = await startPosts();
  ada = await posts.issuer.token("1", usual);
  reader = await posts.issuer.token("3", ["posts:read:all"]);
});
afterAll(() => posts.stop());

test("a published post has the same response for every caller, in both versions", async () => {
  const common = {
    id: "1",
    ...postFields.cleared,
    title: "Notes on the Engine",
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: expect.any(String),
    publishedAt: "2026-01-31T09:30:00.000Z",
  };
  const text = "It *weaves* algebra.";
  for (const [version, fields] of [
    ["v1", { body: text, published: true, authorId: "1" }],
    ["v2", { status: "PUBLISHED", content: { format: "MARKDOWN", text }, author: { id: "1", href: "/v2/users/1" } }],
  ] as const) {
    const open = await posts.rest("GET", `/${version}/posts/1`);
    expect([open.status, open.headers.get("vary")]).toEqual([200, null]);
    expect(open.headers.get("etag")).toMatch(new RegExp(String.raw`^"\d+-${version}\.[0-9a-f]{6}-public"$`));
    expect(open.body).toEqual({ ...common, ...fields });
    expect((await posts.rest("GET", `/${version}/posts/1`, { token: ada })).text).toBe(open.text);
  }
  expect((await posts.rest("GET", `/v2/posts/${adasEmptyPost}`)).body.content).toBeNull();
});

test("a draft or an archived post is a private response for its author, and 404 for others", async () => {
  for (const [id, status, publishedAt] of [
    [adasDraft, "DRAFT", null],
    [adasArchived, "ARCHIVED", "2025-06-01T00:00:00.000Z"],
  ]) {
    const first = await posts.rest("GET", `/v1/posts/${id}`, { token: ada });
    expect(first.body).toMatchObject({ published: false, publishedAt });
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    expect((await posts.rest("GET", `/v2/posts/${id}`, { token: ada })).body).toMatchObject({ status, publishedAt });
    const hidden = await posts.rest("GET", `/v1/posts/${id}`);
    expect([hidden.status, hidden.headers.get("cache-control")]).toEqual([404, "no-store"]);
  }
});

test("an unknown or malformed id is 404", async () => {
  for (const id of ["999", "0", "abc"]) {
    const { status, body } = await posts.rest("GET", `/v1/posts/${id}`);
    expect([id, status, body.type]).toEqual([id, 404, "/problems/not-found"]);
  }
});

test("a list contains published posts, newest first, the same for every caller", async () => {
  const { body, text } = await posts.rest("GET", "/v1/posts");
  expect(idsOf(body)).toEqual([adasEmptyPost, gracesPost, adasPost]);
  expect((await posts.rest("GET", "/v1/posts", { token: ada })).text).toBe(text);
  expect(idsOf((await posts.rest("GET", "/v2/posts")).body.data)).toEqual(idsOf(body));
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

test("a list can be filtered by author and by words of the title; an unknown user has no posts", async () => {
  const list = async (path: string) => idsOf((await posts.rest("GET", path)).body);
  expect(await list("/v1/posts?authorId=1&search=num%20bern")).toEqual([adasEmptyPost]);
  expect(await list("/v1/posts?authorId=2")).toEqual([gracesPost]);
  expect(await list("/v1/users/1/posts")).toEqual([adasEmptyPost, adasPost]);
  for (const id of ["999", "0", "abc"]) expect(await list(`/v1/users/${id}/posts`)).toEqual([]);
});

test("a cursor is valid only with its filters and its caller, and a missing token is reported first", async () => {
  const cursorOf = async (path: string, token?: string) =>
    (await posts.rest("GET", path, token === undefined ? {} : { token })).body.page.next;
  const cursor = await cursorOf("/v2/posts?limit=1");
  for (const path of ["/v2/posts?authorId=1", "/v2/users/1/posts?limit=1"]) {
    const { status, body } = await posts.rest("GET", `${path}&cursor=${cursor}`);
    expect([path, status, body.type]).toEqual([path, 400, "/problems/invalid-cursor"]);
  }
  await Promise.all([addPost(posts, "DRAFT", "8"), addPost(posts, "DRAFT", "8")]);
  const [owner, other] = [await posts.issuer.token("8", []), await posts.issuer.token("1", [])];
  const path = "/v2/posts?status=DRAFT&limit=1";
  const draftCursor = await cursorOf(path, owner);
  const statuses = [{ token: owner }, { token: other }, {}].map(
    async (as) => (await posts.rest("GET", `${path}&cursor=${draftCursor}`, as)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 400, 401]);
});

test("every list can be sorted from either end, and has no other order", async () => {
  const token = await posts.issuer.token("9", []);
  for (const status of ["PUBLISHED", "PUBLISHED", "PUBLISHED", "DRAFT", "DRAFT", "DRAFT"] as const) {
    await addPost(posts, status, "9");
  }
  for (const path of ["/v1/posts?", "/v2/users/9/posts?", "/v1/posts?status=DRAFT&", "/v2/posts?search=sample&"]) {
    expect([path, await readListOrder(posts, path, token)]).toEqual([path, expectedListOrder]);
  }
});

test("a page ends at 1 MiB, and the next page continues", async () => {
  const text = `insert into posts (author_id, title, body, status, published_at)
    select 77, 'Long', repeat('x', 100000), 'PUBLISHED', now() from generate_series(1, 12)`;
  await posts.database.database.rows("long-posts", text);
  const first = await posts.rest("GET", "/v1/users/77/posts?limit=50");
  expect(first.body).toHaveLength(10);
  const second = await posts.rest("GET", linkOf(first, "next"));
  expect(second.body).toHaveLength(2);
  for (const { headers } of [first, second]) {
    const known = { "if-none-match": headers.get("etag") ?? "" };
    const url = headers === first.headers ? "/v1/users/77/posts?limit=50" : linkOf(first, "next");
    expect((await posts.rest("GET", url, { headers: known })).status).toBe(304);
  }
  const back = await posts.rest("GET", linkOf(second, "prev"));
  expect([back.body, linkOf(back, "prev")]).toEqual([first.body, "no such link"]);
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

test("creating a post responds with 201, Location, ETag and the caller's draft", async () => {
  const content = { format: "MARKDOWN", text: "  *Text*\n" };
  for (const [version, fields, expected] of [
    ["v1", { body: "  Text\n" }, { body: "  Text\n", published: false, authorId: "1" }],
    ["v2", { content }, { content, status: "DRAFT", author: { id: "1" } }],
  ] as const) {
    const created = await posts.rest("POST", `/${version}/posts`, { token: ada, body: { title: "New", ...fields } });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ title: "New", ...expected, publishedAt: null });
    expect(created.headers.get("location")).toBe(`/${version}/posts/${created.body.id}`);
    expect(created.headers.get("etag")).toMatch(new RegExp(String.raw`^"\d+-${version}\.[0-9a-f]{6}-private"$`));
    const read = await posts.rest("GET", `/${version}/posts/${created.body.id}`, { token: ada });
    expect([read.text, read.headers.get("etag")]).toEqual([created.text, created.headers.get("etag")]);
  }
  const empty = await posts.rest("POST", "/v2/posts", { token: ada, body: { title: "Empty" } });
  expect([empty.status, empty.body.content]).toEqual([201, null]);
});

test("every problem is reported at once, with the field names of the version; fields that clients cannot set are rejected", async () => {
  const first = { title: "", id: "9", authorId: "2", status: "PUBLISHED", publishedAt: "now", content: {} };
  const firstPointers = ["#/authorId", "#/content", "#/id", "#/published", "#/publishedAt", "#/status", "#/title"];
  expect(await problemsOf("POST", "/v1/posts", { ...first, published: true })).toEqual([422, ...firstPointers]);
  expect(await problemsOf("PATCH", "/v1/posts/1", { ...first, published: null })).toEqual([422, ...firstPointers]);
  const second = { title: "", content: { format: "HTML", text: 1 }, body: "x", published: true };
  const pointers = ["#/body", "#/content/format", "#/content/text", "#/published", "#/status", "#/title"];
  expect(await problemsOf("POST", "/v2/posts", { ...second, status: "PUBLISHED" })).toEqual([422, ...pointers]);
  expect(await problemsOf("PATCH", "/v2/posts/1", { ...second, status: "LOST" })).toEqual([422, ...pointers]);
  const formatless = { title: "x", content: { text: "x" } };
  expect(await problemsOf("POST", "/v2/posts", formatless)).toEqual([422, "#/content/format"]);
  for (const version of ["v1", "v2"]) {
    expect((await posts.rest("POST", `/${version}/posts`, { token: ada })).status).toBe(422);
    expect((await patch("1", undefined, { version })).status).toBe(422);
  }
});

test("a merge patch applies to the content: text or format alone leave the other unchanged", async () => {
  const id = await addPost(posts, "DRAFT");
  const content = async (body: object) => {
    const response = await patch(id, body);
    return response.status === 200 ? response.body.content : [response.status, response.body.errors[0].pointer];
  };
  expect(await content({ content: { format: "MARKDOWN" } })).toEqual({ format: "MARKDOWN", text: "Text." });
  expect(await content({ content: { text: "Anew." } })).toEqual({ format: "MARKDOWN", text: "Anew." });
  expect(await content({ title: "Other" })).toEqual({ format: "MARKDOWN", text: "Anew." });
  expect(await content({ content: null })).toBeNull();
  expect(await content({ content: { format: "MARKDOWN" } })).toEqual([422, "#/content/text"]);
  expect(await content({ content: { text: "Again." } })).toEqual({ format: "PLAIN", text: "Again." });
  expect(await content({ content: { text: null } })).toEqual([422, "#/content/text"]);
  expect((await patch(id, { body: null }, { version: "v1" })).body.body).toBeNull();
});

test("a change reports a missing post first, then failed conditions, then invalid content (RFC 9110, 13.2.1)", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const statusOf = async (post: string, body: object, ifMatch: string | undefined) =>
    (await patch(post, body, { ifMatch })).status;
  for (const body of [{ title: "Changed" }, { colour: "red" }]) {
    for (const ifMatch of [undefined, '"7-v1-public"', "*"]) expect(await statusOf("9999", body, ifMatch)).toBe(404);
    expect(await statusOf(id, body, undefined)).toBe(428);
    expect(await statusOf(id, body, '"7-v1-public"')).toBe(412);
  }
  expect(await statusOf(id, { colour: "red" }, "*")).toBe(422);
});

test("a change needs If-Match with the current ETag, and one without effect keeps the ETag", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const etag = (await posts.rest("GET", `/v1/posts/${id}`)).headers.get("etag") ?? "";
  const change = (ifMatch: string, body: object = { title: "Changed" }) => patch(id, body, { version: "v1", ifMatch });
  // Weak, as a compressing intermediary sends it.
  const changed = await change(`W/${etag}`);
  expect([changed.status, changed.body.title, changed.body.body]).toEqual([200, "Changed", "Text."]);
  for (const old of [etag, `W/${etag}`]) expect((await change(old)).status).toBe(412);
  const current = changed.headers.get("etag") ?? "";
  const same = await change(current, { title: "Changed", published: true });
  expect([same.status, same.headers.get("etag")]).toEqual([200, current]);
});

test("of many concurrent changes with the same ETag one succeeds", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const ifMatch = (await posts.rest("GET", `/v2/posts/${id}`)).headers.get("etag") ?? "";
  const statuses = ["A", "B", "C", "D", "E"].map(async (title) => (await patch(id, { title }, { ifMatch })).status);
  expect((await Promise.all(statuses)).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412, 412]);
});

test("in version 1 published true publishes, also with other changes; published false archives a published post", async () => {
  const id = await addPost(posts, "DRAFT");
  const change = async (body: object) => {
    const { status, body: post } = await patch(id, body, { version: "v1" });
    const { status: state } = (await posts.graphql(`{ post(id: ${id}) { status } }`, {}, ada)).data.post;
    return [status, post.title, post.published, state];
  };
  expect(await change({ published: false })).toEqual([200, "Sample post", false, "DRAFT"]);
  expect(await change({ published: true, title: "Ready" })).toEqual([200, "Ready", true, "PUBLISHED"]);
  const first = (await posts.rest("GET", `/v1/posts/${id}`)).body;
  expect(await change({ published: false })).toEqual([200, "Ready", false, "ARCHIVED"]);
  expect(await change({ published: true })).toEqual([200, "Ready", true, "PUBLISHED"]);
  expect((await posts.rest("GET", `/v1/posts/${id}`)).body).toEqual(first);
});

test("in version 2 a status changes by one step or remains; any other change is a conflict without effect", async () => {
  const steps = {
    DRAFT: { DRAFT: 200, PUBLISHED: 200, ARCHIVED: 409 },
    PUBLISHED: { DRAFT: 409, PUBLISHED: 200, ARCHIVED: 200 },
    ARCHIVED: { DRAFT: 409, PUBLISHED: 200, ARCHIVED: 200 },
  } as const;
  for (const from of ["DRAFT", "PUBLISHED", "ARCHIVED"] as const) {
    for (const [to, expected] of Object.entries(steps[from])) {
      const id = await addPost(posts, from);
      const { status, body } = await patch(id, { status: to, title: "Moved" });
      expect([from, to, status]).toEqual([from, to, expected]);
      const after = (await posts.rest("GET", `/v2/posts/${id}`, { token: ada })).body;
      expect([after.status, after.title]).toEqual(expected === 200 ? [to, "Moved"] : [from, "Sample post"]);
      if (expected === 409) expect(body.type).toBe("/problems/invalid-state");
    }
  }
});

test("a change with an old version and an impossible status reports the version", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const move = async (ifMatch: string) => (await patch(id, { status: "DRAFT" }, { ifMatch })).status;
  const current = (await posts.rest("GET", `/v2/posts/${id}`)).headers.get("etag") ?? "";
  expect([await move('"9-v2.x-public"'), await move(current)]).toEqual([412, 409]);
});

/** Sends a change by Ada, with `If-Match: *` by default; `ifMatch: undefined` omits the header. */
function patch(
  id: string,
  body: unknown,
  options: { readonly version?: string; readonly ifMatch?: string | undefined } = {},
) {
  const { version, ifMatch } = { version: "v2", ifMatch: "*", ...options };
  const headers: Record<string, string> = ifMatch === undefined ? {} : { "if-match": ifMatch };
  return posts.rest("PATCH", `/${version}/posts/${id}`, { token: ada, body, headers });
}

function idsOf(list: readonly { readonly id: string }[]): readonly string[] {
  return list.map(({ id }) => id);
}

/** The status, and the pointers of the problems, sorted. */
async function problemsOf(method: string, path: string, sent: object): Promise<readonly unknown[]> {
  const { status, body } = await posts.rest(method, path, { token: ada, body: sent, headers: { "if-match": "*" } });
  return [status, ...body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()];
}
