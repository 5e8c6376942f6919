import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestService } from "@tributary/kit/testing/service";
import { startUsers, usual } from "./fixtures.ts";

let users: TestService;
let ada: string;
let keeper: string;
beforeAll(async () => {
  users = await startUsers();
  ada = await users.issuer.token("1", usual);
  keeper = await users.issuer.token("3", ["users:write:all"]);
});
afterAll(() => users.stop());

test("a user in version 1 has seven fields; the two private ones are null for others", async () => {
  const { status, headers, body } = await users.rest("GET", "/v1/users/1");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("vary")).toBe("Authorization");
  expect(Object.keys(body)).toEqual(["id", "name", "email", "avatarUrl", "createdAt", "role", "prefs"]);
  expect(body).toMatchObject({ id: "1", name: "Ada Lovelace", email: null, prefs: null });
});

test("the user's own view has the private fields and its own ETag", async () => {
  const open = await users.rest("GET", "/v1/users/1");
  const own = await users.rest("GET", "/v1/users/1", { token: ada });
  expect(own.body).toMatchObject({ email: "ada@example.org", prefs: { theme: "DARK" } });
  expect(own.headers.get("etag")).not.toBe(open.headers.get("etag"));
});

test("HEAD has the headers of GET, without the body", async () => {
  const { status, headers, text } = await users.rest("HEAD", "/v1/users/1");
  expect([status, text]).toEqual([200, ""]);
  expect(Number(headers.get("content-length"))).toBeGreaterThan(100);
});

test("an unknown path or id is a 404 problem", async () => {
  for (const path of ["/v1/users/999", "/v1/users/0", "/v1/users/abc", "/v1/users/1/", "/v1/Users/1", "/v1/nothing"]) {
    const { status, headers, body } = await users.rest("GET", path);
    expect([path, status, headers.get("content-type")]).toEqual([path, 404, "application/problem+json"]);
    expect(body).toMatchObject({
      type: "/problems/not-found",
      status: 404,
      instance: path,
      requestId: expect.any(String),
    });
  }
});

test("an unsupported method is 405 with the supported ones in Allow", async () => {
  const { status, headers } = await users.rest("DELETE", "/v1/users/1");
  expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, PATCH, OPTIONS"]);
  expect((await users.rest("OPTIONS", "/v1/users")).headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
});

test("lists link to the next and the previous page", async () => {
  const first = await users.rest("GET", "/v1/users?limit=2");
  expect(first.body.map(({ id }: { id: string }) => id)).toEqual(["3", "2"]);
  const next = linkOf(first.headers, "next");
  const second = await users.rest("GET", next);
  expect(second.body.map(({ id }: { id: string }) => id)).toEqual(["1"]);
  const back = await users.rest("GET", linkOf(second.headers, "prev"));
  expect(back.text).toBe(first.text);
});

test("unknown, repeated and out-of-range parameters are rejected, and a cursor is valid only with its filters", async () => {
  const cursor = new URL(
    linkOf((await users.rest("GET", "/v1/users?limit=1")).headers, "next"),
    "http://x",
  ).searchParams.get("cursor");
  const refused = {
    "/v1/users?order=name": 400,
    "/v1/users?limit=0": 400,
    "/v1/users?limit=101": 400,
    "/v1/users?limit=1&limit=2": 400,
    "/v1/users?cursor=forged": 400,
    [`/v1/users?role=ADMIN&cursor=${cursor}`]: 400,
    "/v1/users?role=KING": 400,
    "/v1/users/1?fields=name": 400,
  };
  for (const [path, status] of Object.entries(refused))
    expect([path, (await users.rest("GET", path)).status]).toEqual([path, status]);
});

test("creating a user responds with 201, Location, ETag and the user", async () => {
  const body = { name: "Eve", email: "Eve@Example.org", prefs: { locale: "en" } };
  const created = await users.rest("POST", "/v1/users", { token: keeper, body });
  expect(created.status).toBe(201);
  expect(created.headers.get("location")).toBe(`/v1/users/${created.body.id}`);
  expect(created.headers.get("etag")).toMatch(/^"\d+-v1\.[0-9a-f]{6}-public"$/);
  expect((await users.rest("GET", `/v1/users/${created.body.id}`)).body.name).toBe("Eve");
});

test("a 401 distinguishes a missing and an invalid token", async () => {
  const patch = (token?: string) =>
    users.rest("PATCH", "/v1/users/1", {
      ...(token === undefined ? {} : { token }),
      body: {},
      headers: { "if-match": "*" },
    });
  for (const [token, expected] of [
    [undefined, 'Bearer realm="tributary"'],
    ["nothing", 'Bearer realm="tributary", error="invalid_token"'],
  ] as const) {
    const { status, headers } = await patch(token);
    expect([status, headers.get("www-authenticate")]).toEqual([401, expected]);
  }
});

test("a malformed request is rejected with the matching status", async () => {
  const post = (body: unknown, headers = {}) => users.rest("POST", "/v1/users", { token: keeper, body, headers });
  expect((await post("{ broken")).status).toBe(400);
  expect((await post("name=Eve", { "content-type": "text/plain" })).status).toBe(415);
  expect((await post({ name: "Eve" }, { "content-type": "application/json; charset=latin1" })).status).toBe(415);
  expect((await post({ name: "x".repeat(70_000) })).status).toBe(413);
  expect((await post(undefined)).status).toBe(422);
  expect((await users.rest("POST", "/v1/users", { body: { name: "Eve" } })).status).toBe(401);
  expect((await users.rest("POST", "/v1/users", { token: ada, body: { name: "Eve" } })).status).toBe(403);
});

test("fields that clients cannot set are rejected, every problem at once", async () => {
  const body = { name: "", id: "1", createdAt: "now", deactivatedAt: null };
  const { status, body: problem } = await users.rest("POST", "/v1/users", { token: keeper, body });
  expect(status).toBe(422);
  expect(problem.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
    "#/createdAt",
    "#/deactivatedAt",
    "#/id",
    "#/name",
  ]);
});

test("a change needs If-Match with the current ETag", async () => {
  const { headers } = await users.rest("GET", "/v1/users/1", { token: ada });
  const etag = headers.get("etag") ?? "";
  const patch = (ifMatch: Record<string, string>) =>
    users.rest("PATCH", "/v1/users/1", { token: ada, body: { avatarUrl: null }, headers: ifMatch });
  expect((await patch({})).status).toBe(428);
  expect((await patch({ "if-match": '"7-v1-private"' })).status).toBe(412);
  expect((await patch({ "if-match": `W/${etag}` })).status).toBe(412);
  const changed = await patch({ "if-match": etag });
  expect([changed.status, changed.body.avatarUrl]).toEqual([200, null]);
  expect((await patch({ "if-match": etag })).status).toBe(412);
});

test("a change reports a missing user first, then failed conditions, then invalid content (RFC 9110, 13.2.1)", async () => {
  const path = "/v1/users/1";
  const patch = async (path: string, body: object, headers: Record<string, string>, token = ada) =>
    (await users.rest("PATCH", path, { token, body, headers })).status;
  const [stale, any] = [{ "if-match": '"7-v1-public"' }, { "if-match": "*" }];
  const [sound, unsound] = [{ name: "Ada" }, { colour: "red" }];
  for (const body of [sound, unsound]) {
    for (const headers of [{}, stale, any]) expect(await patch("/v1/users/999", body, headers, keeper)).toBe(404);
    expect(await patch(path, body, {})).toBe(428);
    expect(await patch(path, body, stale)).toBe(412);
  }
  expect(await patch(path, unsound, any)).toBe(422);
});

function linkOf(headers: Headers, rel: string): string {
  const link = (headers.get("link") ?? "").split(", ").find((part) => part.endsWith(`rel="${rel}"`));
  return link?.slice(1, link.indexOf(">")) ?? "no such link";
}
