import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startUsers, usual } from "./fixtures.ts";

let users: TestService;
let ada: string;
let keeper: string;
let reader: string;
beforeAll(async () => {
  users = await startUsers();
  ada = await users.issuer.token("1", usual);
  keeper = await users.issuer.token("3", ["users:write:all"]);
  reader = await users.issuer.token("3", ["users:read:private"]);
});
afterAll(() => users.stop());

const publicFields = ["id", "name", "avatar", "createdAt", "role"];

test("a user's private fields are an object for permitted callers, and absent for others", async () => {
  const open = await users.rest("GET", "/v2/users/1");
  expect(open.status).toBe(200);
  expect(Object.keys(open.body)).toEqual(publicFields);
  expect(open.body).toEqual({
    id: "1",
    name: "Ada Lovelace",
    avatar: { url: "https://example.org/ada.png" },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    role: "AUTHOR",
  });
  const own = await users.rest("GET", "/v2/users/1", { token: ada });
  const shown = { email: "ada@example.org", prefs: { locale: "en-GB", theme: "DARK" } };
  expect(own.body).toEqual({ ...open.body, private: shown });
  expect((await users.rest("GET", "/v2/users/1", { token: reader })).text).toBe(own.text);
});

test("a user without private data has an object with nulls, and without an avatar null", async () => {
  const { body } = await users.rest("GET", "/v2/users/3", { token: reader });
  expect([body.avatar, body.private]).toEqual([null, { email: null, prefs: null }]);
});

test("a list is an object with cursors for both directions, and shows only the caller's own private fields", async () => {
  const first = await users.rest("GET", "/v2/users?limit=2", { token: ada });
  expect(idsOf(first.body)).toEqual(["3", "2"]);
  expect(first.body.page).toEqual({ next: expect.any(String), prev: null });
  const second = await users.rest("GET", `/v2/users?limit=2&cursor=${first.body.page.next}`, { token: ada });
  expect(second.body.data).toEqual([(await users.rest("GET", "/v2/users/1", { token: ada })).body]);
  const back = await users.rest("GET", `/v2/users?limit=2&cursor=${second.body.page.prev}`, { token: ada });
  expect(idsOf(back.body)).toEqual(["3", "2"]);
  const fields = first.body.data.map((user: object) => Object.keys(user));
  expect(fields).toEqual([publicFields, publicFields]);
  expect(first.headers.get("link")).toBe(
    `</v2/users?limit=2>; rel="first", </v2/users?limit=2&cursor=${first.body.page.next}>; rel="next"`,
  );
});

test("creating a user responds with 201 and Location in this version, without private fields for callers who may not read them", async () => {
  const avatar = { url: "https://example.org/eve.png" };
  const body = { name: "Eve", avatar, role: "EDITOR", private: { email: "Eve@Example.org", prefs: { locale: "en" } } };
  const created = await users.rest("POST", "/v2/users", { token: keeper, body });
  expect(created.status).toBe(201);
  expect(created.headers.get("location")).toBe(`/v2/users/${created.body.id}`);
  expect(created.headers.get("etag")).toMatch(/^"\d+-v2\.[0-9a-f]{6}-public"$/);
  expect(Object.keys(created.body)).toEqual(publicFields);
  expect(created.body).toMatchObject({ name: "Eve", avatar, role: "EDITOR" });
  const read = await users.rest("GET", `/v2/users/${created.body.id}`, { token: reader });
  expect(read.body.private).toEqual({ email: "eve@example.org", prefs: { locale: "en" } });
  const bare = await users.rest("POST", "/v2/users", { token: keeper, body: { name: "Bare", private: null } });
  expect([bare.status, bare.body.avatar, bare.body.role]).toEqual([201, null, "READER"]);
});

test("every problem is reported at once, with the field names of this version", async () => {
  const body = {
    name: "",
    avatar: { url: "ftp://example.org/", size: 1 },
    avatarUrl: "https://example.org/",
    role: "KING",
    email: "ada@example.org",
    private: { email: "no-address", prefs: { locale: "?" }, phone: "1" },
  };
  const pointers = [
    "#/avatar/size",
    "#/avatar/url",
    "#/avatarUrl",
    "#/email",
    "#/name",
    "#/private/email",
    "#/private/phone",
    "#/private/prefs/locale",
    "#/role",
  ];
  const created = await users.rest("POST", "/v2/users", { token: keeper, body });
  expect([created.status, pointersOf(created.body)]).toEqual([422, pointers]);
  const changed = await patch("1", body);
  expect([changed.status, pointersOf(changed.body)]).toEqual([422, pointers]);
});

test("a duplicate email address is a conflict with a pointer into the body of each version", async () => {
  const refusals = [
    await users.rest("POST", "/v1/users", { token: keeper, body: { name: "Eve", email: "ada@example.org" } }),
    await users.rest("POST", "/v2/users", {
      token: keeper,
      body: { name: "Eve", private: { email: "ada@example.org" } },
    }),
    await patch("2", { private: { email: "ada@example.org" } }),
  ];
  const found = refusals.map(({ status, body }) => [status, pointersOf(body)]);
  expect(found).toEqual([
    [409, ["#/email"]],
    [409, ["#/private/email"]],
    [409, ["#/private/email"]],
  ]);
});

test("a merge patch applies to the avatar and the private fields: absent members remain, null clears", async () => {
  const id = await makeUser();
  const owner = await users.issuer.token(id, usual);
  const after = async (body: object) => {
    const changed = await patch(id, body, owner);
    return changed.status === 200 ? [changed.body.avatar, changed.body.private] : [changed.status];
  };
  const avatar = { url: "https://example.org/a.png" };
  const prefs = { theme: "DARK" };
  const email = `mail${id}@example.org`;
  expect(await after({ private: { prefs: { locale: "de" } } })).toEqual([
    avatar,
    { email, prefs: { ...prefs, locale: "de" } },
  ]);
  expect(await after({ private: { prefs: { locale: null } } })).toEqual([avatar, { email, prefs }]);
  expect(await after({ avatar: {}, private: {} })).toEqual([avatar, { email, prefs }]);
  expect(await after({ avatar: { url: null } })).toEqual([422]);
  expect(await after({ avatar: null })).toEqual([null, { email, prefs }]);
  expect(await after({ private: { email: null } })).toEqual([null, { email: null, prefs }]);
  expect(await after({ avatar, private: { email } })).toEqual([avatar, { email, prefs }]);
  expect(await after({ private: null })).toEqual([avatar, { email: null, prefs: null }]);
});

test("a deactivated account is 410 for reads and changes, and in no list", async () => {
  const id = await makeUser();
  const owner = await users.issuer.token(id, usual);
  await users.graphql(`mutation { deactivateUser(input: { id: ${id} }) { user { id } } }`, {}, owner);
  for (const token of [undefined, owner, reader]) {
    const { status, headers, body } = await users.rest("GET", `/v2/users/${id}`, token === undefined ? {} : { token });
    expect([status, headers.get("content-type"), body.type]).toEqual([
      410,
      "application/problem+json",
      "/problems/gone",
    ]);
  }
  expect((await patch(id, { name: "Back" }, owner)).status).toBe(410);
  expect((await users.rest("PATCH", `/v1/users/${id}`, changing(owner))).status).toBe(404);
  expect(idsOf((await users.rest("GET", "/v2/users?limit=100")).body)).not.toContain(id);
});

test("an impossible change is rejected with the matching status", async () => {
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    o: { token?: string; headers?: Record<string, string> } = {},
  ) => (await users.rest(method, path, { token: keeper, body, headers: { "if-match": "*" }, ...o })).status;
  expect(await send("POST", "/v2/users", "{ broken")).toBe(400);
  expect(await send("GET", "/v2/users?order=name")).toBe(400);
  expect(await send("GET", "/v2/users?cursor=forged")).toBe(400);
  expect(await send("POST", "/v2/users", { name: "Eve" }, { token: "no.token.atall" })).toBe(401);
  expect(await send("POST", "/v2/users", { name: "Eve" }, { token: ada })).toBe(403);
  expect(await send("PATCH", "/v2/users/2", { name: "Eve" }, { token: ada })).toBe(403);
  expect(await send("PATCH", "/v2/users/999", { name: "Eve" })).toBe(404);
  expect(await send("DELETE", "/v2/users/1")).toBe(405);
  expect(await send("PATCH", "/v2/users/1", { name: "Eve" }, { headers: { "if-match": '"99-v2.x-public"' } })).toBe(
    412,
  );
  expect(await send("POST", "/v2/users", { name: "x".repeat(70_000) })).toBe(413);
  const json = { headers: { "if-match": "*", "content-type": "application/json" } };
  expect(await send("PATCH", "/v2/users/1", "{}", json)).toBe(415);
  expect(await send("PATCH", "/v2/users/1")).toBe(422);
  expect(await send("GET", "/v2/users?role=KING")).toBe(400);
  expect(await send("PATCH", "/v2/users/1", { name: "Eve" }, { headers: {} })).toBe(428);
});

function patch(id: string, body: object, token = keeper) {
  return users.rest("PATCH", `/v2/users/${id}`, { token, body, headers: { "if-match": "*" } });
}

function changing(token: string) {
  return { token, body: { name: "Back" }, headers: { "if-match": "*" } };
}

/** Creates a user with all fields. */
async function makeUser(): Promise<string> {
  const text = `insert into users (name, avatar_url, prefs) values ('Katherine', 'https://example.org/a.png', '{"theme":"DARK"}') returning id`;
  const { rows } = users.database.database;
  const [user] = await rows<{ id: string }>("make", text);
  const id = user?.id ?? "none";
  await rows("give-address", "update users set email = 'mail' || id || '@example.org' where id = $1", [id]);
  return id;
}

function idsOf({ data }: { readonly data: readonly { readonly id: string }[] }): readonly string[] {
  return data.map(({ id }) => id);
}

function pointersOf(problem: { readonly errors: readonly { readonly pointer: string }[] }): readonly string[] {
  return problem.errors.map(({ pointer }) => pointer).sort();
}
