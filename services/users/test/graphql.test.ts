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

test("every client may read a user's public fields", async () => {
  const { data, errors } = await users.graphql(`{ user(id: 1) { id name role avatarUrl createdAt deactivatedAt } }`);
  expect(errors).toBeUndefined();
  expect(data.user).toMatchObject({ id: "1", name: "Ada Lovelace", role: "AUTHOR", deactivatedAt: null });
  expect(data.user.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("a malformed id is null, not an error", async () => {
  for (const id of ["0", "-1", "x", "99999999999999999999", "1 or 1=1", "", "999"]) {
    expect(await users.graphql(`query ($id: ID!) { user(id: $id) { id } }`, { id })).toEqual({
      status: 200,
      data: { user: null },
    });
  }
});

test("a private field without a token is null with an error, and the other fields have data", async () => {
  const { status, data, errors } = await users.graphql(`{ user(id: 1) { name email prefs { theme } } }`);
  expect(status).toBe(200);
  expect(data).toEqual({ user: { name: "Ada Lovelace", email: null, prefs: null } });
  expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
    [["user", "email"], "UNAUTHENTICATED"],
    [["user", "prefs"], "UNAUTHENTICATED"],
  ]);
});

test("a user sees only their own private fields", async () => {
  const { data, errors } = await users.graphql(`{ me { email prefs { theme } } user(id: 2) { email } }`, {}, ada);
  expect(data).toEqual({ me: { email: "ada@example.org", prefs: { theme: "DARK" } }, user: { email: null } });
  expect(errors).toMatchObject([{ path: ["user", "email"], extensions: { code: "FORBIDDEN" } }]);
});

test("me is null without a token", async () => {
  expect(await users.graphql(`{ me { id } }`)).toEqual({ status: 200, data: { me: null } });
});

test("an invalid token is rejected before execution", async () => {
  users.database.takeStatements();
  const response = await users.graphql(`{ user(id: 1) { id } }`, {}, "eyJhbGciOiJub25lIn0.e30.");
  expect(response).toMatchObject({ status: 401, errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
  expect(users.database.takeStatements()).toEqual([]);
});

test("a hundred references to users are one statement; the result has their order, with null for unknown ids", async () => {
  const representations = Array.from({ length: 100 }, (_, index) => ({
    __typename: "User",
    id: String((index % 4) + 1),
  }));
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on User { id name } } }`;
  const { data } = await users.graphql(query, { representations });
  expect(users.database.takeStatements()).toEqual(["find-users"]);
  expect(data._entities.slice(0, 4).map((user: { id: string } | null) => user?.id)).toEqual(["1", "2", "3", undefined]);
});

test("private fields are also private in entity references", async () => {
  const query = `query { _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { e: email } } }`;
  const { data, errors } = await users.graphql(query, {}, await users.issuer.token("2", usual));
  expect(data).toEqual({ _entities: [{ e: null }] });
  expect(errors?.[0]?.extensions.code).toBe("FORBIDDEN");
});

test("cursors lead through all pages, and a cursor is valid only with its filters", async () => {
  const page = `query ($after: String, $role: Role) { users(first: 2, after: $after, role: $role) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
  const first = await users.graphql(page);
  expect(first.data.users.nodes).toEqual([{ id: "3" }, { id: "2" }]);
  const after = first.data.users.pageInfo.endCursor;
  const second = await users.graphql(page, { after });
  expect(second.data.users).toMatchObject({ nodes: [{ id: "1" }], pageInfo: { hasNextPage: false } });
  const other = await users.graphql(page, { after, role: "AUTHOR" });
  expect(other.errors?.[0]?.extensions.code).toBe("INVALID_CURSOR");
});

test("first must be 1 to 100", async () => {
  for (const first of [0, -1, 101]) {
    const { data, errors } = await users.graphql(`query ($first: Int) { users(first: $first) { nodes { id } } }`, {
      first,
    });
    expect(data.users).toBeNull();
    expect(errors?.[0]?.extensions).toMatchObject({ code: "BAD_USER_INPUT", problems: [{ pointer: "#/first" }] });
  }
});

test("a search matches word prefixes of names only", async () => {
  const names = async (search: string) => {
    const { data } = await users.graphql(`query ($search: String) { users(search: $search) { nodes { name } } }`, {
      search,
    });
    return data.users.nodes.map(({ name }: { name: string }) => name);
  };
  expect(await names("love ada")).toEqual(["Ada Lovelace"]);
  expect(await names("example")).toEqual([]);
  expect(await names("' | ! & :* \\")).toEqual([]);
});

test("a search ignores case in every alphabet", async () => {
  const insert = "insert into users (id, name) values (99, 'Øyvind Ångström-Öz 2nd') returning id";
  const [user] = await users.database.database.rows<{ id: string }>("oyvind", insert);
  for (const search of ["Øyvind", "øyvind", "ÅNGSTRÖM", "ångström-öz", "oyvind"]) {
    const found = await users.graphql(`query ($search: String) { users(search: $search) { nodes { id } } }`, {
      search,
    });
    expect([search, found.data.users.nodes]).toEqual([search, search === "oyvind" ? [] : [user]]);
  }
  await users.database.database.rows("gone", "delete from users where id = $1", [user?.id]);
});

test("every problem of an input is reported at once", async () => {
  const create = `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }`;
  const input = { name: " ", email: "no-address", avatarUrl: "javascript:alert(1)", prefs: { timeZone: "Mars/Base" } };
  const { errors } = await users.graphql(create, { input }, keeper);
  expect(errors?.[0]?.extensions.code).toBe("BAD_USER_INPUT");
  expect(errors?.[0]?.extensions.problems?.map(({ pointer }) => pointer)).toEqual([
    "#/name",
    "#/email",
    "#/avatarUrl",
    "#/prefs/timeZone",
  ]);
});

test("an email address belongs to one user", async () => {
  const create = `mutation { createUser(input: { name: "Eve", email: "ADA@example.org" }) { user { id } } }`;
  const { errors } = await users.graphql(create, {}, keeper);
  expect(errors?.[0]?.extensions).toMatchObject({ code: "CONFLICT", problems: [{ pointer: "#/email" }] });
});

test("a user may change their own account, but not their role", async () => {
  const update = `mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { name email role } } }`;
  const changed = await users.graphql(update, { input: { id: "1", name: "Ada, Countess of Lovelace" } }, ada);
  expect(changed.data.updateUser.user).toEqual({
    name: "Ada, Countess of Lovelace",
    email: "ada@example.org",
    role: "AUTHOR",
  });
  const role = await users.graphql(update, { input: { id: "1", role: "ADMIN" } }, ada);
  expect(role.errors?.[0]?.extensions.code).toBe("FORBIDDEN");
});

test("a deactivated account has no data and still resolves", async () => {
  const created = await users.graphql(
    `mutation { createUser(input: { name: "Eve", email: "eve@example.org" }) { user { id } } }`,
    {},
    keeper,
  );
  const { id } = created.data.createUser.user;
  const eve = await users.issuer.token(id, usual);
  const deactivate = `mutation ($input: DeactivateUserInput!) { deactivateUser(input: $input) { user { name email deactivatedAt } } }`;
  const { data } = await users.graphql(deactivate, { input: { id } }, eve);
  expect(data.deactivateUser.user).toMatchObject({
    name: "Former user",
    email: null,
    deactivatedAt: expect.any(String),
  });
  expect((await users.graphql(deactivate, { input: { id } }, eve)).errors?.[0]?.extensions.code).toBe("INVALID_STATE");
  expect((await users.graphql(`{ users(search: "Former") { nodes { id } } }`)).data.users.nodes).toEqual([]);
  expect((await users.rest("GET", `/v1/users/${id}`)).status).toBe(404);
  const patch = { token: eve, body: { name: "Eve again" }, headers: { "if-match": "*" } };
  expect((await users.rest("PATCH", `/v1/users/${id}`, patch)).status).toBe(404);
});
