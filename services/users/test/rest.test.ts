import { expectedListOrder, readListOrder } from "@tributary/kit/testing/list-order";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { userFields } from "../src/model.ts";
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

const privateOfAda = { email: "ada@example.org", prefs: { locale: "en-GB", theme: "DARK" } };
const openFields = ["id", ...userFields.names, "avatar", "createdAt", "role"];

test("a user in version 1 has all fields; the two private ones are null for others", async () => {
  const { status, body } = await users.rest("GET", "/v1/users/1");
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(["id", ...userFields.names, "email", "avatarUrl", "createdAt", "role", "prefs"]);
  expect(body).toMatchObject({ id: "1", name: "Ada Lovelace", email: null, prefs: null });
  expect((await users.rest("GET", "/v1/users/1", { token: ada })).body).toEqual({ ...body, ...privateOfAda });
});

test("a user's private fields in version 2 are an object for permitted callers, and absent for others", async () => {
  const open = await users.rest("GET", "/v2/users/1");
  expect(Object.keys(open.body)).toEqual(openFields);
  expect(open.body).toEqual({
    id: "1",
    ...userFields.cleared,
    name: "Ada Lovelace",
    avatar: { url: "https://example.org/ada.png" },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    role: "AUTHOR",
  });
  const asAda = await users.rest("GET", "/v2/users/1", { token: ada });
  expect(asAda.body).toEqual({ ...open.body, private: privateOfAda });
  expect((await users.rest("GET", "/v2/users/1", { token: reader })).text).toBe(asAda.text);
  const { body: linus } = await users.rest("GET", "/v2/users/3", { token: reader });
  expect([linus.avatar, linus.private]).toEqual([null, { email: null, prefs: null }]);
});

test("an unknown or malformed id is 404", async () => {
  for (const id of ["999", "0", "abc"]) {
    for (const version of ["v1", "v2"]) {
      const { status } = await users.rest("GET", `/${version}/users/${id}`);
      expect([version, id, status]).toEqual([version, id, 404]);
    }
  }
});

test("a list has all users, newest first, each with the caller's private fields only", async () => {
  const first = await users.rest("GET", "/v1/users?limit=2");
  expect(idsOf(first.body)).toEqual(["3", "2"]);
  const envelope = (await users.rest("GET", "/v2/users?limit=2", { token: ada })).body;
  expect(idsOf(envelope.data)).toEqual(["3", "2"]);
  expect(envelope.data.map((user: object) => Object.keys(user))).toEqual([openFields, openFields]);
  const rest = await users.rest("GET", `/v2/users?limit=2&cursor=${envelope.page.next}`, { token: ada });
  expect(rest.body.data).toEqual([(await users.rest("GET", "/v2/users/1", { token: ada })).body]);
});

test("a cursor is valid only with its filters", async () => {
  const { body } = await users.rest("GET", "/v2/users?limit=1");
  const other = await users.rest("GET", `/v2/users?role=ADMIN&cursor=${body.page.next}`);
  expect([other.status, other.body.type]).toEqual([400, "/problems/invalid-cursor"]);
});

test.each(["/v1/users?", "/v2/users?"])("%s can be sorted from either end, and has no other order", async (path) => {
  expect(await readListOrder(users, path)).toEqual(expectedListOrder);
});

test("creating a user responds with 201, Location, ETag and the user, without private fields for callers who may not read them", async () => {
  const created = await users.rest("POST", "/v1/users", { token: keeper, body: { name: "Eve" } });
  expect([created.status, created.headers.get("location")]).toEqual([201, `/v1/users/${created.body.id}`]);
  expect(created.headers.get("etag")).toMatch(/^"\d+-v1\.[0-9a-f]{6}-public"$/);
  expect((await users.rest("GET", `/v1/users/${created.body.id}`)).body.name).toBe("Eve");
  const avatar = { url: "https://example.org/eve.png" };
  const hidden = { email: "Eve@Example.org", prefs: { locale: "en" } };
  const body = { name: "Eve", avatar, role: "EDITOR", private: hidden };
  const second = await users.rest("POST", "/v2/users", { token: keeper, body });
  expect([second.status, second.headers.get("location")]).toEqual([201, `/v2/users/${second.body.id}`]);
  expect(second.headers.get("etag")).toMatch(/^"\d+-v2\.[0-9a-f]{6}-public"$/);
  expect(Object.keys(second.body)).toEqual(openFields);
  expect(second.body).toMatchObject({ name: "Eve", avatar, role: "EDITOR" });
  const read = await users.rest("GET", `/v2/users/${second.body.id}`, { token: reader });
  expect(read.body.private).toEqual({ email: "eve@example.org", prefs: { locale: "en" } });
  const bare = await users.rest("POST", "/v2/users", { token: keeper, body: { name: "Bare", private: null } });
  expect([bare.status, bare.body.avatar, bare.body.role]).toEqual([201, null, "READER"]);
});

test("a change without a token is 401 without an error code", async () => {
  const { status, headers } = await users.rest("PATCH", "/v1/users/1", { body: {}, headers: { "if-match": "*" } });
  expect([status, headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="tributary"']);
});

test("every problem is reported at once, with the field names of the version", async () => {
  const fields = { name: "", id: "1", createdAt: "now", deactivatedAt: null };
  const first = await users.rest("POST", "/v1/users", { token: keeper, body: fields });
  expect(problemsOf(first)).toEqual([422, "#/createdAt", "#/deactivatedAt", "#/id", "#/name"]);
  const body = {
    name: "",
    avatar: { url: "ftp://example.org/", size: 1 },
    avatarUrl: "https://example.org/",
    role: "KING",
    email: "ada@example.org",
    private: { email: "no-address", prefs: { locale: "?" }, phone: "1" },
  };
  const created = await users.rest("POST", "/v2/users", { token: keeper, body });
  expect(problemsOf(created)).toEqual([
    422,
    "#/avatar/size",
    "#/avatar/url",
    "#/avatarUrl",
    "#/email",
    "#/name",
    "#/private/email",
    "#/private/phone",
    "#/private/prefs/locale",
    "#/role",
  ]);
  expect(problemsOf(await patch("1", body))).toEqual(problemsOf(created));
  for (const version of ["v1", "v2"]) {
    expect((await users.rest("POST", `/${version}/users`, { token: keeper })).status).toBe(422);
  }
});

test("a duplicate email address is a conflict with a pointer into the body of each version", async () => {
  const email = "ada@example.org";
  const first = await users.rest("POST", "/v1/users", { token: keeper, body: { name: "Eve", email } });
  expect(problemsOf(first)).toEqual([409, "#/email"]);
  const second = await users.rest("POST", "/v2/users", { token: keeper, body: { name: "Eve", private: { email } } });
  expect(problemsOf(second)).toEqual([409, "#/private/email"]);
  expect(problemsOf(await patch("2", { private: { email } }))).toEqual([409, "#/private/email"]);
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

test("a change needs If-Match with the current ETag", async () => {
  const id = await makeUser();
  const etag = (await users.rest("GET", `/v1/users/${id}`)).headers.get("etag") ?? "";
  const change = (headers: Record<string, string>) =>
    users.rest("PATCH", `/v1/users/${id}`, { token: keeper, body: { name: "Grace", avatarUrl: null }, headers });
  expect((await change({})).status).toBe(428);
  // Weak, as a compressing intermediary sends it.
  const changed = await change({ "if-match": `W/${etag}` });
  expect([changed.status, changed.body.name, changed.body.avatarUrl]).toEqual([200, "Grace", null]);
  for (const old of [etag, `W/${etag}`]) expect((await change({ "if-match": old })).status).toBe(412);
});

test("a change reports a missing user first, then failed conditions, then invalid content (RFC 9110, 13.2.1)", async () => {
  const statusOf = async (id: string, body: object, headers: Record<string, string>, token = ada) =>
    (await users.rest("PATCH", `/v1/users/${id}`, { token, body, headers })).status;
  const [stale, any] = [{ "if-match": '"7-v1-public"' }, { "if-match": "*" }];
  const [valid, invalid] = [{ name: "Ada" }, { colour: "red" }];
  for (const body of [valid, invalid]) {
    for (const headers of [{}, stale, any]) expect(await statusOf("999", body, headers, keeper)).toBe(404);
    expect(await statusOf("1", body, {})).toBe(428);
    expect(await statusOf("1", body, stale)).toBe(412);
  }
  expect(await statusOf("1", invalid, any)).toBe(422);
});

function patch(id: string, body: object, token = keeper) {
  return users.rest("PATCH", `/v2/users/${id}`, { token, body, headers: { "if-match": "*" } });
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

function idsOf(list: readonly { readonly id: string }[]): readonly string[] {
  return list.map(({ id }) => id);
}

/** The status, and the pointers of the problems, sorted. */
function problemsOf({ status, body }: Awaited<ReturnType<TestService["rest"]>>): readonly unknown[] {
  return [status, ...body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()];
}
