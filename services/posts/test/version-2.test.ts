import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  addPost,
  adasArchived,
  adasDraft,
  adasEmptyPost,
  adasPost,
  gracesPost,
  startPosts,
  usual,
} from "./fixtures.ts";

let posts: TestService;
let ada: string;
beforeAll(async () => {
  posts = await startPosts();
  ada = await posts.issuer.token("1", usual);
});
afterAll(() => posts.stop());

test("a post has its status, its content with the format, and the path of its author", async () => {
  const { status, body } = await posts.rest("GET", "/v2/posts/1");
  expect(status).toBe(200);
  expect(body).toEqual({
    id: "1",
    title: "Notes on the Engine",
    status: "PUBLISHED",
    content: { format: "MARKDOWN", text: "It *weaves* algebra." },
    author: { id: "1", href: "/v2/users/1" },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: body.createdAt,
    publishedAt: "2026-01-31T09:30:00.000Z",
  });
  expect((await posts.rest("GET", `/v2/posts/${adasEmptyPost}`)).body.content).toBeNull();
  expect((await posts.rest("GET", `/v2/posts/${adasDraft}`, { token: ada })).body.status).toBe("DRAFT");
  expect((await posts.rest("GET", `/v2/posts/${adasArchived}`, { token: ada })).body.status).toBe("ARCHIVED");
});

test("a list is an object with cursors for the next and the previous page", async () => {
  const first = await posts.rest("GET", "/v2/posts?limit=2");
  expect(idsOf(first.body)).toEqual([adasEmptyPost, gracesPost]);
  expect(first.body.page).toEqual({ next: expect.any(String), prev: null });
  const second = await posts.rest("GET", `/v2/posts?limit=2&cursor=${first.body.page.next}`);
  expect(idsOf(second.body)).toEqual([adasPost]);
  const back = await posts.rest("GET", `/v2/posts?limit=2&cursor=${second.body.page.prev}`);
  expect(idsOf(back.body)).toEqual(idsOf(first.body));
  expect(first.headers.get("link")).toBe(
    `</v2/posts?limit=2>; rel="first", </v2/posts?limit=2&cursor=${first.body.page.next}>; rel="next"`,
  );
  expect((await posts.rest("GET", "/v2/users/999/posts")).body).toEqual({
    data: [],
    page: { next: null, prev: null },
  });
});

test("creating a post responds with 201 and Location in this version", async () => {
  const content = { format: "MARKDOWN", text: "  *Text*\n" };
  const created = await posts.rest("POST", "/v2/posts", { token: ada, body: { title: "New", content } });
  expect(created.status).toBe(201);
  expect(created.headers.get("location")).toBe(`/v2/posts/${created.body.id}`);
  expect(created.headers.get("etag")).toMatch(/^"\d+-v2\.[0-9a-f]{6}-private"$/);
  expect(created.body).toMatchObject({
    title: "New",
    status: "DRAFT",
    content,
    author: { id: "1" },
    publishedAt: null,
  });
  const read = await posts.rest("GET", `/v2/posts/${created.body.id}`, { token: ada });
  expect([read.text, read.headers.get("etag")]).toEqual([created.text, created.headers.get("etag")]);
  const empty = await posts.rest("POST", "/v2/posts", { token: ada, body: { title: "Empty" } });
  expect([empty.status, empty.body.content]).toEqual([201, null]);
});

test("every problem is reported at once, with the field names of this version", async () => {
  const body = { title: "", content: { format: "HTML", text: 1 }, body: "x", published: true, status: "PUBLISHED" };
  const created = await posts.rest("POST", "/v2/posts", { token: ada, body });
  expect([created.status, pointersOf(created.body)]).toEqual([
    422,
    ["#/body", "#/content/format", "#/content/text", "#/published", "#/status", "#/title"],
  ]);
  const changed = await patch("1", { ...body, status: "LOST" });
  expect([changed.status, pointersOf(changed.body)]).toEqual([
    422,
    ["#/body", "#/content/format", "#/content/text", "#/published", "#/status", "#/title"],
  ]);
  expect(
    (await posts.rest("POST", "/v2/posts", { token: ada, body: { title: "x", content: { text: "x" } } })).status,
  ).toBe(422);
});

test("a merge patch applies to the content: text or format alone leave the other unchanged", async () => {
  const id = await addPost(posts, "DRAFT");
  const content = async (body: object) => {
    const response = await patch(id, body);
    return response.status === 200 ? response.body.content : [response.status, pointersOf(response.body)];
  };
  expect(await content({ content: { format: "MARKDOWN" } })).toEqual({ format: "MARKDOWN", text: "Text." });
  expect(await content({ content: { text: "Anew." } })).toEqual({ format: "MARKDOWN", text: "Anew." });
  expect(await content({ title: "Other" })).toEqual({ format: "MARKDOWN", text: "Anew." });
  expect(await content({ content: null })).toBeNull();
  expect(await content({ content: { format: "MARKDOWN" } })).toEqual([422, ["#/content/text"]]);
  expect(await content({ content: { text: "Again." } })).toEqual({ format: "PLAIN", text: "Again." });
  expect(await content({ content: { text: null } })).toEqual([422, ["#/content/text"]]);
});

test("a status changes by one step or remains; any other change is a conflict without effect", async () => {
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
      expect([after.status, after.title]).toEqual(expected === 200 ? [to, "Moved"] : [from, "Of its own"]);
      if (expected === 409) expect(body.type).toBe("/problems/invalid-state");
    }
  }
});

test("a change with an old version and an impossible status reports the version", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const move = async (ifMatch: string) => (await patch(id, { status: "DRAFT" }, ifMatch)).status;
  const current = (await posts.rest("GET", `/v2/posts/${id}`)).headers.get("etag") ?? "";
  expect([await move('"9-v2.x-public"'), await move(current)]).toEqual([412, 409]);
  const unconditional = { token: ada, body: { status: "ARCHIVED" } };
  expect((await posts.rest("PATCH", `/v2/posts/${id}`, unconditional)).status).toBe(428);
});

test("a malformed request is rejected with the matching status", async () => {
  const send = async (method: string, path: string, body: unknown, headers: Record<string, string>) =>
    (await posts.rest(method, path, { token: ada, body, headers })).status;
  const ifMatch = { "if-match": "*" };
  expect(await send("POST", "/v2/posts", "{ broken", {})).toBe(400);
  expect(await send("POST", "/v2/posts", "title=New", { "content-type": "text/plain" })).toBe(415);
  expect(await send("PATCH", "/v2/posts/1", "{}", { ...ifMatch, "content-type": "application/json" })).toBe(415);
  expect(await send("POST", "/v2/posts", { title: "x".repeat(70_000) }, {})).toBe(413);
  expect(await send("PATCH", "/v2/posts/1", undefined, ifMatch)).toBe(422);
  expect(await send("PATCH", "/v2/posts/999", { title: "x" }, ifMatch)).toBe(404);
  expect(await send("DELETE", "/v2/posts/1", undefined, {})).toBe(405);
  expect((await posts.rest("GET", "/v2/posts?order=title")).status).toBe(400);
  expect((await posts.rest("GET", "/v2/posts?cursor=forged")).status).toBe(400);
  expect((await posts.rest("GET", "/v2/posts/999")).status).toBe(404);
});

function patch(id: string, body: object, ifMatch = "*") {
  return posts.rest("PATCH", `/v2/posts/${id}`, { token: ada, body, headers: { "if-match": ifMatch } });
}

function idsOf({ data }: { readonly data: readonly { readonly id: string }[] }): readonly string[] {
  return data.map(({ id }) => id);
}

function pointersOf(problem: { readonly errors: readonly { readonly pointer: string }[] }): readonly string[] {
  return problem.errors.map(({ pointer }) => pointer).sort();
}
