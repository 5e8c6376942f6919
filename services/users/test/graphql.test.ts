import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Database } from "@tributary/kit/postgres/postgres";
import { type ExplainedStatement, explain } from "@tributary/kit/testing/explain";
import type { TestService } from "@tributary/kit/testing/service";
import { createUserStore } from "../src/store.ts";
import { startUsers } from "./fixtures.ts";

let users: TestService;
let keeper: string;
beforeAll(async () => {
  users = await startUsers();
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

test("me is null without a token", async () => {
  expect(await users.graphql(`{ me { id } }`)).toEqual({ status: 200, data: { me: null } });
});

test("a hundred references to users are one statement; the result has their order, with null for unknown ids", async () => {
  const representations = Array.from({ length: 100 }, (_, index) => ({
    __typename: "User",
    id: String((index % 4) + 1),
  }));
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on User { id name } } }`;
  users.database.takeStatements();
  const { data } = await users.graphql(query, { representations });
  expect(users.database.takeStatements()).toEqual(["find-users"]);
  expect(data._entities.slice(0, 4).map((user: { id: string } | null) => user?.id)).toEqual(["1", "2", "3", undefined]);
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
  for (const first of [0, 101]) {
    const { data, errors } = await users.graphql(`{ users(first: ${first}) { nodes { id } } }`);
    expect(data.users).toBeNull();
    expect(errors?.[0]?.extensions).toMatchObject({ code: "BAD_USER_INPUT", problems: [{ pointer: "#/first" }] });
  }
});

test("a search matches word prefixes of names only, and ignores case in every alphabet", async () => {
  const insert = "insert into users (id, name) values (99, 'Øyvind Ångström-Öz 2nd')";
  await users.database.database.rows("oyvind", insert);
  const query = `query ($search: String) { users(search: $search) { nodes { name } } }`;
  const find = async (search: string) => {
    const { data } = await users.graphql(query, { search });
    return data.users.nodes.map(({ name }: { name: string }) => name);
  };
  expect(await find("love ada")).toEqual(["Ada Lovelace"]);
  for (const search of ["Øyvind", "øyvind", "ÅNGSTRÖM", "ångström-öz"]) {
    expect([search, await find(search)]).toEqual([search, ["Øyvind Ångström-Öz 2nd"]]);
  }
  for (const search of ["oyvind", "example", "' | ! & :* \\"])
    expect([search, await find(search)]).toEqual([search, []]);
  await users.database.database.rows("remove-oyvind", "delete from users where id = 99");
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

test("an avatar is an http(s) address in the characters of a URI", async () => {
  const update = `mutation ($avatarUrl: String) { updateUser(input: { id: "1", avatarUrl: $avatarUrl }) { user { avatarUrl } } }`;
  const store = async (avatarUrl: string) => (await users.graphql(update, { avatarUrl }, keeper)).errors?.length ?? 0;
  for (const address of ["http://a", "https://a.example:8443/b%20c/~d?e=(f)#g", "https://example.org/a.png"])
    expect([address, await store(address)]).toEqual([address, 0]);
  for (const address of [
    "http://a/\u007f",
    "http://a/\u{1f600}",
    "http://a/%zz",
    "http://a/{b}",
    "http://a/ b",
    "http://a#b#c",
  ])
    expect([address, await store(address)]).toEqual([address, 1]);
});

test("the scheme of an avatar is stored in lower case, by both endpoints", async () => {
  const address = "HTTPS://example.org/A.png";
  const stored = "https://example.org/A.png";
  const update = `mutation ($avatarUrl: String) { updateUser(input: { id: "1", avatarUrl: $avatarUrl }) { user { avatarUrl } } }`;
  const { data } = await users.graphql(update, { avatarUrl: address }, keeper);
  expect(data.updateUser.user.avatarUrl).toBe(stored);
  const created = await users.rest("POST", "/v1/users", { token: keeper, body: { name: "Eve", avatarUrl: address } });
  expect([created.status, created.body.avatarUrl]).toEqual([201, stored]);
  const change = { token: keeper, headers: { "if-match": "*" }, body: { avatar: { url: "Http://example.org/b" } } };
  const changed = await users.rest("PATCH", `/v2/users/${created.body.id}`, change);
  expect([changed.status, changed.body.avatar]).toEqual([
    200,
    expect.objectContaining({ url: "http://example.org/b" }),
  ]);
  await users.database.database.rows("remove-created", "delete from users where name = 'Eve'");
});

test("a search for a word that no name has does not scan users in the order of their ids", async () => {
  const { database } = users.database;
  const insert = "insert into users (name) select 'Person ' || n || ' word' || n % 500 from generate_series(1, 6000) n";
  await database.rows("many", insert);
  onTestFinished(async () => void (await database.rows("remove-many", "delete from users where name like 'Person %'")));
  await database.rows("vacuum", "vacuum analyze users");
  const recorded: ExplainedStatement[] = [];
  const rows = async (_name: string, text: string, values: readonly unknown[] = []) => {
    recorded.push({ text, values });
    return [];
  };
  const store = createUserStore({ ...database, rows } as Database);
  await store.listUsers({ search: "absent" }, { limit: 20 });
  await store.listUsers({ search: "absent", sort: "oldest" }, { limit: 20 });
  await store.listUserVersions({ search: "absent" }, { limit: 20, position: { direction: "next", id: "3000" } });
  // Of a table this small, PostgreSQL reads the order of an index only if it may not sort.
  const sortless: Pick<Database, "transaction"> = {
    transaction: (work) =>
      database.transaction(async (transaction) => {
        await transaction.rows("sortless", "set local enable_sort = off");
        return work(transaction);
      }),
  };
  for (const statement of recorded) {
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      const nodes = await explain(sortless, statement, mode);
      const scans = nodes.map((node) => node["Node Type"]).filter((type) => /^(Index|Seq)/.test(type));
      expect([statement.text, mode, scans]).toEqual([statement.text, mode, []]);
      expect(nodes.map((node) => node["Index Name"])).toContain("users_name_folded_words");
    }
  }
});

test("an email address belongs to one user", async () => {
  const create = `mutation { createUser(input: { name: "Eve", email: "ADA@example.org" }) { user { id } } }`;
  const { errors } = await users.graphql(create, {}, keeper);
  expect(errors?.[0]?.extensions).toMatchObject({ code: "CONFLICT", problems: [{ pointer: "#/email" }] });
});
