import { anonymous } from "@tributary/kit/identity/tokens";
import { etagOf, pickHeaders } from "@tributary/kit/testing/response-headers";
import type { RestTestAnswer, TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPostActions } from "../src/actions.ts";
import { createPostStore } from "../src/store.ts";
import { addPost, adasDraft, startPosts, usual } from "./fixtures.ts";

let posts: TestService;
let ada: string;
let reader: string;
beforeAll(async () => {
  posts = await startPosts();
  ada = await posts.issuer.token("1", usual);
  reader = await posts.issuer.token("3", ["posts:read:all"]);
});
afterAll(() => posts.stop());

const shared = {
  "cache-control": "public, max-age=2, s-maxage=10",
  "cdn-cache-control": "public, max-age=10",
  "tributary-cache-control": "public, max-age=10, stale-while-revalidate=10, stale-if-error=300",
  vary: null,
};
const privateHeaders = { "cache-control": "private, no-cache", "cdn-cache-control": null, vary: "Authorization" };
const problem = { "cache-control": "no-store", "cdn-cache-control": null };

test("shared caches may store public responses, with their cache groups", async () => {
  const groups = {
    "/posts/1": '"posts:1"',
    "/posts": '"posts"',
    "/posts?authorId=1": '"posts:by-1"',
    "/users/1/posts?limit=1": '"posts:by-1"',
    "/users/abc/posts": null,
  };
  for (const [path, group] of Object.entries(groups)) {
    const open = await get(`/v2${path}`);
    const known = await get(`/v2${path}`, ada, { "if-none-match": etagOf(open) });
    expect([path, open.status, known.status]).toEqual([path, 200, 304]);
    for (const { headers } of [open, known]) {
      expect(pickHeaders(headers, shared)).toEqual(shared);
      expect([path, headers.get("cache-groups"), headers.get("etag")]).toEqual([path, group, etagOf(open)]);
      expect(headers.get("last-modified")).toBeNull();
    }
  }
});

test("a 304 needs one statement for versions only, a 200 one statement", async () => {
  for (const [path, whole, light] of [
    [`/posts/1`, "find-posts", "find-post-states"],
    [`/posts?limit=2`, "list-posts-first", "list-post-versions-first"],
    [`/users/1/posts`, "list-posts-first-author", "list-post-versions-first-author"],
    [`/posts?limit=21`, "list-posts-first-within", "list-post-versions-first-within"],
  ] as const) {
    posts.database.takeStatements();
    const open = await get(`/v2${path}`);
    expect([path, posts.database.takeStatements()]).toEqual([path, [whole]]);
    const known = await get(`/v2${path}`, undefined, { "if-none-match": `W/${etagOf(open)}` });
    expect([known.status, known.text, posts.database.takeStatements()]).toEqual([304, "", [light]]);
  }
});

test("a response with a draft is private, and other callers get none, in any sequence of requests", async () => {
  const path = `/v2/posts/${adasDraft}`;
  const list = "/v2/users/1/posts?status=DRAFT";
  for (const order of [
    [undefined, ada],
    [ada, undefined],
  ]) {
    for (const token of order) {
      const [one, many] = [await get(path, token), await get(list, token)];
      expect([one.status, many.status]).toEqual(token ? [200, 200] : [404, 401]);
      expect(pickHeaders(one.headers, token ? privateHeaders : problem)).toEqual(token ? privateHeaders : problem);
      expect(pickHeaders(many.headers, token ? privateHeaders : problem)).toEqual(token ? privateHeaders : problem);
      expect(many.headers.get("vary")).toBe("Authorization");
    }
  }
});

test("the ETag of a draft gives other callers no 304", async () => {
  const path = `/v2/posts/${adasDraft}`;
  const etag = etagOf(await get(path, ada));
  const grace = await posts.issuer.token("2", usual);
  for (const condition of [{ "if-none-match": etag }, { "if-none-match": "*" }, { "if-match": etag }]) {
    const statuses = [undefined, grace].map(async (token) => (await get(path, token, condition)).status);
    expect([condition, await Promise.all(statuses)]).toEqual([condition, [404, 404]]);
  }
  for (const token of [ada, reader]) {
    const known = await get(path, token, { "if-none-match": etag });
    expect([known.status, pickHeaders(known.headers, privateHeaders)]).toEqual([304, privateHeaders]);
  }
});

test("the ETag of a list by status is valid only for callers with the same view", async () => {
  const path = "/v2/posts?status=DRAFT";
  const etag = etagOf(await get(path, ada));
  expect((await get(path, ada, { "if-none-match": etag })).status).toBe(304);
  expect((await get(path, reader, { "if-none-match": etag })).status).toBe(200);
  const rejected = await get(path, undefined, { "if-none-match": etag });
  expect([rejected.status, rejected.headers.get("vary")]).toEqual([401, "Authorization"]);
  expect((await get("/v2/posts?status=LOST")).headers.get("vary")).toBe("Authorization");
});

test("a status change changes the ETag, but not updatedAt", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const path = `/v2/posts/${id}`;
  const lists = ["/v2/posts", "/v2/users/1/posts"];
  const open = await get(path, ada);
  const listed = await Promise.all(lists.map(async (list) => etagOf(await get(list))));
  await posts.graphql(`mutation { archivePost(input: { id: ${id} }) { post { id } } }`, {}, ada);
  const archived = await get(path, ada, { "if-none-match": etagOf(open) });
  expect([archived.status, pickHeaders(archived.headers, privateHeaders)]).toEqual([200, privateHeaders]);
  for (const [index, list] of lists.entries()) {
    expect((await get(list, undefined, { "if-none-match": listed[index] ?? "" })).status).toBe(200);
  }
});

test("a change invalidates the post and the lists that may contain it; a rejected change invalidates none", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const patch = (ifMatch: string) =>
    posts.rest("PATCH", `/v2/posts/${id}`, {
      token: ada,
      body: { title: "Anew" },
      headers: { "if-match": ifMatch },
    });
  expect((await patch('"99-v1.x-public"')).headers.get("cache-group-invalidation")).toBeNull();
  const changed = await patch("*");
  expect(changed.headers.get("cache-group-invalidation")).toBe(`"posts:${id}", "posts", "posts:by-1"`);
  expect(changed.headers.get("cache-control")).toBe("no-store");
  expect(etagOf(changed)).toBe(etagOf(await get(`/v2/posts/${id}`)));
});

test("concurrent reads of post states share a statement, and each caller gets only visible posts", async () => {
  const actions = createPostActions(createPostStore(posts.database.database));
  const author = { kind: "user", userId: "1", scopes: new Set<string>() } as const;
  posts.database.takeStatements();
  const reads = Array.from({ length: 10 }, () => [
    actions.findPostState(anonymous, "1"),
    actions.findPostState(author, adasDraft),
    actions.findPostState(anonymous, adasDraft),
    actions.findPostState(anonymous, "x"),
  ]);
  const ids = (await Promise.all(reads.flat())).map((state) => state?.id);
  expect(ids).toEqual(Array.from({ length: 10 }, () => ["1", adasDraft, undefined, undefined]).flat());
  expect(posts.database.takeStatements()).toEqual(["find-post-states"]);
});

test("the two versions have different ETags, and If-Match accepts either of them while the post is unchanged", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const [first, second] = [await get(`/v1/posts/${id}`), await get(`/v2/posts/${id}`)];
  expect((await get(`/v2/posts/${id}`, undefined, { "if-none-match": etagOf(first) })).status).toBe(200);
  expect((await get("/v2/posts", undefined, { "if-none-match": etagOf(await get("/v1/posts")) })).status).toBe(200);
  const headers = { "if-match": etagOf(first) };
  const changed = await posts.rest("PATCH", `/v2/posts/${id}`, { token: ada, body: { title: "Anew" }, headers });
  expect(changed.status).toBe(200);
  const late = { token: ada, body: { title: "Late" }, headers: { "if-match": etagOf(second) } };
  expect((await posts.rest("PATCH", `/v1/posts/${id}`, late)).status).toBe(412);
});

test("a change is rejected if If-None-Match matches", async () => {
  const path = `/v2/posts/${await addPost(posts, "DRAFT")}`;
  const etag = etagOf(await get(path, ada));
  const send = (ifNoneMatch: string) =>
    posts.rest("PATCH", path, {
      token: ada,
      body: { title: "Changed" },
      headers: { "if-match": "*", "if-none-match": ifNoneMatch },
    });
  for (const named of ["*", etag]) {
    const rejected = await send(named);
    expect([named, rejected.status, rejected.headers.get("cache-group-invalidation")]).toEqual([named, 412, null]);
  }
  expect((await get(path, ada, { "if-none-match": etag })).status).toBe(304);
  expect((await send('"0-v1.x-public"')).status).toBe(200);
});

function get(path: string, token?: string, headers: Record<string, string> = {}): Promise<RestTestAnswer> {
  return posts.rest("GET", path, { ...(token === undefined ? {} : { token }), headers });
}
