import { etagOf, pickHeaders } from "@tributary/kit/testing/response-headers";
import type { RestTestAnswer, TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startComments, usual, writeComment } from "./fixtures.ts";

let comments: TestService;
let ada: string;
beforeAll(async () => {
  comments = await startComments();
  ada = await comments.issuer.token("1", usual);
});
afterAll(() => comments.stop());

const shared = {
  "cache-control": "public, max-age=2, s-maxage=10",
  "cdn-cache-control": "public, max-age=10",
  "tributary-cache-control": "public, max-age=10, stale-while-revalidate=10, stale-if-error=300",
  vary: null,
};

test("shared caches may store every response, with its cache groups, for every caller", async () => {
  const groups = {
    "/comments/1": '"comments:1"',
    "/comments": '"comments"',
    "/comments?postId=1": '"comments:on-1"',
    "/comments?authorId=2": '"comments:by-2"',
    "/comments?authorId=2&postId=1": '"comments:on-1"',
    "/posts/1/comments": '"comments:on-1"',
    "/posts/x/comments": null,
  };
  for (const [path, group] of Object.entries(groups)) {
    const open = await get(`/v2${path}`);
    const asAda = await get(`/v2${path}`, {}, ada);
    const known = await get(`/v2${path}`, { "if-none-match": etagOf(open) }, ada);
    expect([path, asAda.text, open.status, known.status]).toEqual([path, open.text, 200, 304]);
    for (const { headers } of [open, asAda, known]) {
      expect(pickHeaders(headers, shared)).toEqual(shared);
      expect([path, headers.get("cache-groups"), headers.get("etag")]).toEqual([path, group, etagOf(open)]);
    }
  }
});

test("a 304 needs one statement for versions only, a 200 one statement", async () => {
  for (const [path, whole, light] of [
    ["/comments/1", "find-comments", "find-comment-states"],
    ["/comments?limit=2", "list-visible-first", "list-versions-visible-first"],
    ["/posts/1/comments", "list-visible-first-by-post", "list-versions-visible-first-by-post"],
  ] as const) {
    comments.database.takeStatements();
    const open = await get(`/v2${path}`);
    expect([path, comments.database.takeStatements()]).toEqual([path, [whole]]);
    const known = await get(`/v2${path}`, { "if-none-match": `W/${etagOf(open)}` });
    expect([known.status, comments.database.takeStatements()]).toEqual([304, [light]]);
  }
});

test("a comment has Last-Modified a minute after its last change", async () => {
  const id = await writeLongAgo("2026-01-02T03:04:05.678Z", null);
  const edited = await writeLongAgo("2026-01-02T03:04:05.678Z", "2026-01-02T03:09:00.001Z");
  const lastModified = async (comment: string) => (await get(`/v2/comments/${comment}`)).headers.get("last-modified");
  expect(await lastModified(id)).toBe("Fri, 02 Jan 2026 03:04:05 GMT");
  expect(await lastModified(edited)).toBe("Fri, 02 Jan 2026 03:09:00 GMT");
  expect(await lastModified((await writeComment(comments)).id)).toBeNull();
  const since = async (comment: string, date: string) =>
    (await get(`/v2/comments/${comment}`, { "if-modified-since": date })).status;
  expect(await since(id, "Fri, 02 Jan 2026 03:04:05 GMT")).toBe(304);
  expect(await since(edited, "Fri, 02 Jan 2026 03:04:05 GMT")).toBe(200);
  expect((await get("/v2/comments")).headers.get("last-modified")).toBeNull();
});

test("an edit changes the ETags of the comment and of the lists with it", async () => {
  const { id } = await writeComment(comments);
  const paths = [`/comments/${id}`, "/comments", "/posts/1/comments", "/comments?authorId=1"].map(
    (path) => `/v2${path}`,
  );
  const before = await Promise.all(paths.map(async (path) => etagOf(await get(path))));
  const edit = `mutation { editComment(input: { id: ${id}, body: "Anew." }) { comment { id } } }`;
  expect((await comments.graphql(edit, {}, ada)).errors).toBeUndefined();
  for (const [index, path] of paths.entries()) {
    expect([path, (await get(path, { "if-none-match": before[index] ?? "" })).status]).toEqual([path, 200]);
  }
});

test("a deleted comment is no longer a 304, and is in no list", async () => {
  const { id } = await writeComment(comments);
  const [one, list] = [`/v2/comments/${id}`, "/v2/posts/1/comments"];
  const [etag, listed] = [etagOf(await get(one)), etagOf(await get(list))];
  const deleted = await comments.rest("DELETE", one, { token: ada });
  expect(deleted.headers.get("cache-group-invalidation")).toBe(
    `"comments:${id}", "comments", "comments:on-1", "comments:by-1"`,
  );
  for (const condition of [{ "if-none-match": etag }, { "if-none-match": "*" }, { "if-match": "*" }]) {
    const absent = await get(one, condition);
    expect([absent.status, absent.headers.get("cache-control")]).toEqual([410, "no-store"]);
  }
  expect((await get(list, { "if-none-match": listed })).status).toBe(200);
});

test("every write invalidates the responses with the comment; a rejected write invalidates none", async () => {
  const body = { postId: "2", body: "Hello." };
  const added = await comments.rest("POST", "/v2/comments", { token: ada, body });
  const { id } = added.body;
  const ended = `"comments:${id}", "comments", "comments:on-2", "comments:by-1"`;
  const patch = (ifMatch: string) =>
    comments.rest("PATCH", `/v2/comments/${id}`, {
      token: ada,
      body: { body: "Anew." },
      headers: { "if-match": ifMatch },
    });
  expect([added.status, added.headers.get("cache-group-invalidation")]).toEqual([201, ended]);
  expect((await patch('"99-v1.x-public"')).headers.get("cache-group-invalidation")).toBeNull();
  const changed = await patch(etagOf(added));
  expect([changed.status, changed.headers.get("cache-group-invalidation")]).toEqual([200, ended]);
  expect([changed.headers.get("cache-control"), changed.headers.get("last-modified")]).toEqual(["no-store", null]);
  expect(etagOf(changed)).toBe(etagOf(await get(`/v2/comments/${id}`)));
});

test("the two versions have different ETags, and If-Match accepts either of them while the comment is unchanged", async () => {
  const { id } = await writeComment(comments);
  const [first, second] = [await get(`/v1/comments/${id}`), await get(`/v2/comments/${id}`)];
  expect((await get(`/v2/comments/${id}`, { "if-none-match": etagOf(first) })).status).toBe(200);
  const headers = { "if-match": etagOf(first) };
  const changed = await comments.rest("PATCH", `/v2/comments/${id}`, { token: ada, body: { body: "Anew." }, headers });
  expect(changed.status).toBe(200);
  const late = { token: ada, headers: { "if-match": etagOf(second) } };
  expect((await comments.rest("DELETE", `/v1/comments/${id}`, late)).status).toBe(412);
});

test("a comment that If-None-Match matches is neither changed nor deleted", async () => {
  const path = `/v2/comments/${(await writeComment(comments)).id}`;
  const etag = etagOf(await get(path));
  const send = (method: string, headers: Record<string, string>) =>
    comments.rest(method, path, {
      token: ada,
      ...(method === "PATCH" ? { body: { body: "Anew." } } : {}),
      headers,
    });
  for (const named of ["*", etag]) {
    const edited = await send("PATCH", { "if-match": "*", "if-none-match": named });
    const deleted = await send("DELETE", { "if-none-match": named });
    expect([named, edited.status, deleted.status]).toEqual([named, 412, 412]);
    expect(deleted.headers.get("cache-group-invalidation")).toBeNull();
  }
  expect((await get(path, { "if-none-match": etag })).status).toBe(304);
  expect((await send("PATCH", { "if-match": etag, "if-none-match": '"0-v1.x-public"' })).status).toBe(200);
  expect((await send("DELETE", { "if-none-match": etag })).status).toBe(204);
});

test("If-Unmodified-Since prevents the deletion of an edited comment, and is ignored with If-Match", async () => {
  const id = await writeLongAgo("2026-01-02T03:04:05.678Z", "2026-01-02T03:09:00.900Z");
  const path = `/v2/comments/${id}`;
  const remove = (headers: Record<string, string>) => comments.rest("DELETE", path, { token: ada, headers });
  const written = { "if-unmodified-since": "Fri, 02 Jan 2026 03:04:05 GMT" };
  expect((await remove(written)).status).toBe(412);
  expect((await remove({ ...written, "if-match": '"0-v1.x-public"' })).status).toBe(412);
  expect((await get(path)).headers.get("last-modified")).toBe("Fri, 02 Jan 2026 03:09:00 GMT");
  expect((await remove({ "if-unmodified-since": "Fri, 02 Jan 2026 03:09:00 GMT" })).status).toBe(204);
  const other = `/v2/comments/${await writeLongAgo("2026-01-02T03:04:05.678Z", null)}`;
  const earlier = { "if-unmodified-since": "Thu, 01 Jan 2026 00:00:00 GMT" };
  expect((await comments.rest("DELETE", other, { token: ada, headers: earlier })).status).toBe(412);
  const both = { ...earlier, "if-match": etagOf(await get(other)) };
  expect((await comments.rest("DELETE", other, { token: ada, headers: both })).status).toBe(204);
});

async function writeLongAgo(createdAt: string, editedAt: string | null): Promise<string> {
  const text = `insert into comments (post_id, author_id, body, created_at, edited_at) values (3, 1, 'Old.', $1, $2) returning id`;
  const [row] = await comments.database.database.rows<{ id: string }>("write-long-ago", text, [createdAt, editedAt]);
  return row?.id ?? "none";
}

function get(path: string, headers: Record<string, string> = {}, token?: string): Promise<RestTestAnswer> {
  return comments.rest("GET", path, { ...(token === undefined ? {} : { token }), headers });
}
