import { expectedListOrder, readListOrder } from "@tributary/kit/testing/list-order";
import { linkOf } from "@tributary/kit/testing/response-headers";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commentFields } from "../src/model.ts";
import { startComments, usual, writeComment } from "./fixtures.ts";

let comments: TestService;
let ada: string;
let grace: string;
beforeAll(async () => {
  comments = await startComments();
  ada = await comments.issuer.token("1", usual);
  grace = await comments.issuer.token("2", usual);
});
afterAll(() => comments.stop());

/** The name of the text in each version. */
const versions = [
  ["v1", "text"],
  ["v2", "body"],
] as const;

test("a comment has the same fields for every caller", async () => {
  for (const [version, name] of versions) {
    const open = await comments.rest("GET", `/${version}/comments/1`);
    expect([open.status, open.headers.get("vary")]).toEqual([200, null]);
    expect(Object.keys(open.body)).toEqual([
      "id",
      "postId",
      "authorId",
      name,
      ...commentFields.names,
      "createdAt",
      "editedAt",
    ]);
    expect(open.body).toMatchObject({
      id: "1",
      postId: "1",
      authorId: "2",
      [name]: "A lovely engine.",
      editedAt: null,
    });
    const asAda = await comments.rest("GET", `/${version}/comments/1`, { token: ada });
    expect([asAda.text, asAda.headers.get("etag")]).toEqual([open.text, open.headers.get("etag")]);
    const edited = await comments.rest("GET", `/${version}/comments/6`);
    expect(edited.body.editedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
});

test("an unsupported method is 405 with the supported ones in Allow", async () => {
  const { status, headers } = await comments.rest("POST", "/v1/comments/1");
  expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, PATCH, DELETE, OPTIONS"]);
  expect((await comments.rest("OPTIONS", "/v1/comments")).headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
});

test("lists contain no deleted comments, and a parent with an unknown or malformed id has none", async () => {
  const list = async (path: string) => {
    const { status, body } = await comments.rest("GET", path);
    expect(status).toBe(200);
    return body.map(({ id }: { id: string }) => id);
  };
  expect(await list("/v1/comments?authorId=2")).toEqual(["1"]);
  expect(await list("/v1/posts/2/comments")).toEqual(["6", "4"]);
  expect(await list("/v1/comments?postId=2&authorId=1")).toEqual(["4"]);
  for (const path of ["posts/999/comments", "posts/x/comments", "comments?postId=0", "comments?authorId=a&postId=1"]) {
    expect([path, await list(`/v1/${path}`)]).toEqual([path, []]);
  }
});

test("every list has pages in both directions, as an array in version 1 and as an object in version 2", async () => {
  for (const path of ["posts/1/comments?limit=2", "comments?limit=2&postId=1"]) {
    const first = await comments.rest("GET", `/v1/${path}`);
    expect(idsOf(first.body)).toEqual(["3", "2"]);
    const second = await comments.rest("GET", linkOf(first, "next"));
    expect(idsOf(second.body)).toEqual(["1"]);
    expect((await comments.rest("GET", linkOf(second, "prev"))).text).toBe(first.text);
    const { data, page } = (await comments.rest("GET", `/v2/${path}`)).body;
    expect([idsOf(data), page]).toEqual([["3", "2"], { next: expect.any(String), prev: null }]);
    const rest = (await comments.rest("GET", `/v2/${path}&cursor=${page.next}`)).body;
    expect([idsOf(rest.data), rest.page.next]).toEqual([["1"], null]);
  }
});

test("a cursor is valid only with its filters", async () => {
  const { next } = (await comments.rest("GET", "/v2/comments?limit=1")).body.page;
  for (const path of ["/v2/comments?postId=1", "/v2/posts/1/comments?limit=1"]) {
    const { status, body } = await comments.rest("GET", `${path}&cursor=${next}`);
    expect([path, status, body.type]).toEqual([path, 400, "/problems/invalid-cursor"]);
  }
});

test("every list can be sorted from either end, and has no other order", async () => {
  const more =
    "insert into comments (post_id, author_id, body) select 9, 9, 'Comment ' || n from generate_series(1, 5) n";
  await comments.database.database.rows("more", more);
  for (const path of ["/v1/comments?", "/v2/posts/9/comments?", "/v2/comments?authorId=9&"]) {
    expect([path, await readListOrder(comments, path)]).toEqual([path, expectedListOrder]);
  }
});

test("a page has at most 1 MiB, including the surrounding object, and the next page continues", async () => {
  const large = `insert into comments (post_id, author_id, body) select 50, 1, repeat('🎉', 5000) from generate_series(1, 60)`;
  await comments.database.database.rows("large", large);
  const first = await comments.rest("GET", "/v2/posts/50/comments?limit=100");
  expect(first.body.data.length).toBeLessThan(60);
  expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(1_048_576);
  const rest = await comments.rest("GET", `/v2/posts/50/comments?limit=100&cursor=${first.body.page.next}`);
  expect(first.body.data.length + rest.body.data.length).toBe(60);
});

test("adding a comment responds with 201, Location, ETag and the comment", async () => {
  for (const [version, name] of versions) {
    const body = { postId: "2", [name]: " Longer than I thought. " };
    const added = await comments.rest("POST", `/${version}/comments`, { token: ada, body });
    expect([added.status, added.headers.get("location")]).toEqual([201, `/${version}/comments/${added.body.id}`]);
    expect(added.headers.get("etag")).toMatch(new RegExp(String.raw`^"\d+-${version}\.[0-9a-f]{6}-public"$`));
    const expected = { postId: "2", authorId: "1", [name]: "Longer than I thought.", editedAt: null };
    expect(added.body).toMatchObject(expected);
    expect((await comments.rest("GET", `/${version}/comments/${added.body.id}`)).text).toBe(added.text);
  }
});

test("every problem is reported at once, with the field names of the version", async () => {
  const first = { postId: "x", text: "", body: "?", authorId: "2", id: "1" };
  expect(problemsOf(await comments.rest("POST", "/v1/comments", { token: ada, body: first }))).toEqual([
    422,
    "#/authorId unknown_field",
    "#/body unknown_field",
    "#/id unknown_field",
    "#/postId invalid",
    "#/text length",
  ]);
  const second = { postId: "x", text: "?", authorId: "2" };
  expect(problemsOf(await comments.rest("POST", "/v2/comments", { token: ada, body: second }))).toEqual([
    422,
    "#/authorId unknown_field",
    "#/body required",
    "#/postId invalid",
    "#/text unknown_field",
  ]);
  for (const [version] of versions) {
    expect((await comments.rest("POST", `/${version}/comments`, { token: ada })).status).toBe(422);
  }
});

test("a change contains only the text, which is required", async () => {
  const { id } = await writeComment(comments);
  for (const [version, name] of versions) {
    const problems = async (body: unknown) => problemsOf(await patch(version, id, body));
    expect(await problems({ [name]: "Changed.", postId: "2" })).toEqual([422, "#/postId unknown_field"]);
    expect(await problems({ [name]: null })).toEqual([422, expect.stringContaining(`#/${name} `)]);
    expect(await problems({})).toEqual([422, `#/${name} required`]);
    expect(await problems([])).toEqual([422, expect.stringContaining("# ")]);
  }
});

test("a change needs If-Match with the current ETag", async () => {
  for (const [version, name] of versions) {
    const { id } = await writeComment(comments);
    const etag = (await comments.rest("GET", `/${version}/comments/${id}`)).headers.get("etag") ?? "";
    const change = (ifMatch: string | undefined) => patch(version, id, { [name]: "Changed." }, { ifMatch });
    expect((await change(undefined)).status).toBe(428);
    // Weak, as a compressing intermediary sends it.
    const changed = await change(`W/${etag}`);
    expect(changed.body).toMatchObject({ id, [name]: "Changed.", editedAt: expect.any(String) });
    for (const old of [etag, `W/${etag}`]) expect((await change(old)).status).toBe(412);
  }
});

test("a change reports a missing comment first, then failed conditions, then invalid content (RFC 9110, 13.2.1)", async () => {
  const { id } = await writeComment(comments);
  const statusOf = async (comment: string, body: object, ifMatch: string | undefined, token = ada) =>
    (await patch("v1", comment, body, { ifMatch, token })).status;
  const [valid, invalid] = [{ text: "Changed." }, { colour: "red" }];
  for (const ifMatch of [undefined, '"7-v1-public"', "*"]) {
    for (const body of [valid, invalid]) expect(await statusOf("9999", body, ifMatch)).toBe(404);
    expect(await statusOf(id, invalid, ifMatch, grace)).toBe(403);
  }
  for (const body of [valid, invalid]) {
    expect(await statusOf(id, body, undefined)).toBe(428);
    expect(await statusOf(id, body, '"7-v1-public"')).toBe(412);
  }
  expect(await statusOf(id, invalid, "*")).toBe(422);
});

test("every request for a deleted comment is 404, in version 2 410; for an unknown one 404", async () => {
  for (const [version, name] of versions) {
    const { id } = await writeComment(comments);
    const requests = async (comment: string) => [
      await comments.rest("GET", `/${version}/comments/${comment}`),
      await patch(version, comment, { [name]: "Again." }),
      await comments.rest("DELETE", `/${version}/comments/${comment}`, { token: ada }),
    ];
    const deleted = await comments.rest("DELETE", `/${version}/comments/${id}`, { token: ada });
    expect([deleted.status, deleted.text]).toEqual([204, ""]);
    for (const { status, body } of await requests(id)) {
      const expected = version === "v1" ? [404, "/problems/not-found"] : [410, "/problems/gone"];
      expect([status, body.type]).toEqual(expected);
    }
    for (const missing of ["999999", "0", "abc"]) {
      const statuses = (await requests(missing)).map(({ status }) => status);
      expect([missing, ...statuses]).toEqual([missing, 404, 404, 404]);
    }
  }
});

test("If-Match is optional for a deletion", async () => {
  const { id } = await writeComment(comments);
  const path = `/v1/comments/${id}`;
  const remove = (ifMatch: string) => comments.rest("DELETE", path, { token: ada, headers: { "if-match": ifMatch } });
  expect((await remove('"7-v1-public"')).status).toBe(412);
  expect((await remove((await comments.rest("GET", path)).headers.get("etag") ?? "")).status).toBe(204);
});

/** Sends a change by Ada, with `If-Match: *` by default; `ifMatch: undefined` omits the header. */
function patch(
  version: string,
  id: string,
  body: unknown,
  options: { readonly ifMatch?: string | undefined; readonly token?: string } = {},
) {
  const { ifMatch, token } = { ifMatch: "*", token: ada, ...options };
  const headers: Record<string, string> = ifMatch === undefined ? {} : { "if-match": ifMatch };
  return comments.rest("PATCH", `/${version}/comments/${id}`, { token, body, headers });
}

function idsOf(list: readonly { readonly id: string }[]): readonly string[] {
  return list.map(({ id }) => id);
}

/** The status, and the pointers and codes of the problems, sorted. */
function problemsOf({ status, body }: Awaited<ReturnType<TestService["rest"]>>): readonly unknown[] {
  const problems = body.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`);
  return [status, ...problems.sort()];
}
