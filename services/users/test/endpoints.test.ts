import { readFile } from "node:fs/promises";
import { findUnsent } from "@tributary/kit/testing/sent-requests";
import type { TestService } from "@tributary/kit/testing/service";
import { Kind, parse } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { userFields } from "../src/model.ts";
import { routes } from "../src/rest/routes.ts";
import { startUsers, usual } from "./fixtures.ts";

let users: TestService;
let names = 0;
beforeAll(async () => {
  users = await startUsers();
});
afterAll(() => users.stop());

interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

interface TestCaller {
  /** Absent for the user of the test. */
  readonly userId?: string;
  /** Absent for an anonymous client. */
  readonly scopes?: readonly string[];
}

type Caller = "anonymous" | "owner" | "ownerWithoutScope" | "another" | "keeper" | "reader";

const callers: Readonly<Record<Caller, TestCaller>> = {
  anonymous: {},
  owner: { scopes: ["users:write"] },
  ownerWithoutScope: { scopes: ["users:read", "posts:write:all"] },
  another: { userId: "2", scopes: usual },
  keeper: { userId: "3", scopes: ["users:write:all"] },
  reader: { userId: "3", scopes: ["users:read:private"] },
};

type Outcome = "allowed" | "UNAUTHENTICATED" | "FORBIDDEN";
type Action = "read" | "readSelf" | "list" | "create" | "update" | "updateRole" | "deactivate";
type Send = (user: User, token: string | undefined) => Promise<string>;

/** The expected outcome of each action for each caller. With `users:write` another user may change only themselves. */
const whoMay: Readonly<Record<Action, Readonly<Record<Caller, Outcome>>>> = {
  read: row("allowed", "allowed", "allowed", "allowed", "allowed", "allowed"),
  readSelf: row("allowed", "allowed", "allowed", "allowed", "allowed", "allowed"),
  list: row("allowed", "allowed", "allowed", "allowed", "allowed", "allowed"),
  create: row("UNAUTHENTICATED", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN", "allowed", "FORBIDDEN"),
  update: row("UNAUTHENTICATED", "allowed", "FORBIDDEN", "FORBIDDEN", "allowed", "FORBIDDEN"),
  updateRole: row("UNAUTHENTICATED", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN", "allowed", "FORBIDDEN"),
  deactivate: row("UNAUTHENTICATED", "allowed", "FORBIDDEN", "FORBIDDEN", "allowed", "FORBIDDEN"),
};

/** The request for each action at each endpoint. It resolves to `allowed` or the error code. */
const endpoints: Readonly<Record<Action, { readonly graphql?: Send; readonly v1?: Send; readonly v2?: Send }>> = {
  read: {
    graphql: ({ id }, token) => byGraphql(`query ($id: ID!) { user(id: $id) { name } }`, { id }, token),
    ...byBothVersions("GET", ({ id }) => `/users/${id}`),
  },
  readSelf: { graphql: (_user, token) => byGraphql(`{ me { name } }`, {}, token) },
  list: {
    graphql: (_user, token) => byGraphql(`{ users { nodes { name } } }`, {}, token),
    ...byBothVersions("GET", () => "/users"),
  },
  create: {
    graphql: (_user, token) => byGraphql(create, { input: { name: "New" } }, token),
    ...byBothVersions("POST", () => "/users", { name: "New" }),
  },
  update: {
    graphql: ({ id }, token) => byGraphql(update, { input: { id, name: "Changed" } }, token),
    ...byBothVersions("PATCH", ({ id }) => `/users/${id}`, { name: "Changed" }),
  },
  updateRole: {
    graphql: ({ id }, token) => byGraphql(update, { input: { id, role: "ADMIN" } }, token),
    ...byBothVersions("PATCH", ({ id }) => `/users/${id}`, { role: "ADMIN" }),
  },
  deactivate: { graphql: ({ id }, token) => byGraphql(deactivate, { input: { id } }, token) },
};

for (const action of Object.keys(whoMay) as Action[]) {
  test(`${action} has the expected outcome for each caller through every endpoint, and only an allowed one has an effect`, async () => {
    const isRead = whoMay[action].anonymous === "allowed";
    for (const [endpoint, send] of Object.entries(endpoints[action])) {
      for (const caller of Object.keys(callers) as Caller[]) {
        const user = await makeUser();
        const before = await hashRows();
        const outcome = await send(user, await tokenOf(caller, user));
        const isChanged = (await hashRows()) !== before;
        const expected = whoMay[action][caller];
        expect([endpoint, caller, outcome, isChanged]).toEqual([
          endpoint,
          caller,
          expected,
          !isRead && expected === "allowed",
        ]);
      }
    }
  });
}

/** Which callers may read private fields, and the GraphQL error for the others. */
const sees: Readonly<Record<Caller, Outcome>> = row(
  "UNAUTHENTICATED",
  "allowed",
  "allowed",
  "FORBIDDEN",
  "FORBIDDEN",
  "allowed",
);

/** The fields with the description "Private" in schema.graphql. */
const privateFields = { email: "email", prefs: "prefs { theme }" };

type Data = Awaited<ReturnType<TestService["graphql"]>>["data"];

/** Every GraphQL path to a user, with a function that selects the user in `data`. */
const paths = {
  "the root field": [`query ($id: ID!) { found: user(id: $id) { …FIELDS } }`, (data) => data.found],
  "a list's nodes": [
    `query ($name: String) { users(search: $name) { nodes { …FIELDS } } }`,
    (data) => data.users.nodes[0],
  ],
  "a list's edges": [
    `query ($name: String) { users(search: $name) { edges { node { …FIELDS } } } }`,
    (data) => data.users.edges[0].node,
  ],
  "a reference": [
    `query ($of: [_Any!]!) { _entities(representations: $of) { ... on User { …FIELDS } } }`,
    (data) => data._entities[0],
  ],
  "a fragment": [
    `query ($id: ID!) { user(id: $id) { ...Named } } fragment Named on User { ... { …FIELDS } }`,
    (data) => data.user,
  ],
} as const satisfies Readonly<Record<string, readonly [query: string, place: (data: Data) => unknown]>>;

for (const [path, [query, place]] of Object.entries(paths)) {
  test(`private fields through ${path} are shown to permitted callers only`, async () => {
    for (const [caller, expected] of Object.entries(sees) as [Caller, Outcome][]) {
      const user = await makeUser();
      const fields = Object.entries(privateFields).flatMap(([name, field]) => [field, `alias_${name}: ${field}`]);
      const variables = { id: user.id, name: user.name, of: [{ __typename: "User", id: user.id }] };
      const selected = query.replace("…FIELDS", `name ${fields.join(" ")}`);
      const { data, errors = [] } = await users.graphql(selected, variables, await tokenOf(caller, user));
      const isShown = expected === "allowed";
      const [email, prefs] = isShown ? [user.email, { theme: "DARK" }] : [null, null];
      expect(place(data)).toEqual({ name: user.name, email, alias_email: email, prefs, alias_prefs: prefs });
      const codes = errors.map(({ extensions }) => extensions.code);
      expect([caller, codes]).toEqual([caller, isShown ? [] : Array.from({ length: 4 }, () => expected)]);
    }
  });
}

test("private fields through REST are shown to permitted callers; for others they are null, or absent in version 2", async () => {
  for (const [caller, expected] of Object.entries(sees) as [Caller, Outcome][]) {
    const user = await makeUser();
    const token = await tokenOf(caller, user);
    const get = async (path: string) => (await users.rest("GET", path, toOptions(token))).body;
    const shown = { email: user.email, prefs: { theme: "DARK" } };
    const isShown = expected === "allowed";
    const first = await get(`/v1/users/${user.id}`);
    expect(first).toMatchObject(isShown ? shown : { email: null, prefs: null });
    expect(await get(`/v1/users?search=${user.name}`)).toEqual([first]);
    const second = await get(`/v2/users/${user.id}`);
    expect([caller, second.private]).toEqual([caller, isShown ? shown : undefined]);
    expect((await get(`/v2/users?search=${user.name}`)).data).toEqual([second]);
  }
});

test("permission to write private fields does not include permission to read them", async () => {
  const user = await makeUser();
  const token = await tokenOf("keeper", user);
  const input = { id: user.id, email: `new-${user.email}` };
  const selecting = update.replace("{ id }", "{ id email }");
  const { data, errors } = await users.graphql(selecting, { input }, token);
  expect([data.updateUser.user.email, errors?.[0]?.extensions.code]).toEqual([null, "FORBIDDEN"]);
  const headers = { "if-match": "*" };
  const patched = await users.rest("PATCH", `/v1/users/${user.id}`, {
    ...toOptions(token),
    body: { prefs: null },
    headers,
  });
  expect(patched.body).toMatchObject({ id: user.id, email: null, prefs: null });
  const created = await users.rest("POST", "/v1/users", {
    ...toOptions(token),
    body: { name: "New", email: `post-${user.email}` },
  });
  expect([created.status, created.body.email]).toEqual([201, null]);
});

test("a change of one preference leaves the others, and null removes it, through both endpoints", async () => {
  const { id } = await makeUser();
  const token = await users.issuer.token(id, usual);
  const patch = async (prefs: object | null) =>
    (await users.rest("PATCH", `/v1/users/${id}`, { token, body: { prefs }, headers: { "if-match": "*" } })).body.prefs;
  expect(await patch({ locale: "en-GB", newsletter: null })).toEqual({ theme: "DARK", locale: "en-GB" });
  expect(await patch({ theme: null })).toEqual({ locale: "en-GB" });
  expect(await patch({})).toEqual({ locale: "en-GB" });
  const theme = `mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { prefs { locale theme } } } }`;
  const { data } = await users.graphql(theme, { input: { id, prefs: { theme: "LIGHT" } } }, token);
  expect(data.updateUser.user.prefs).toEqual({ locale: "en-GB", theme: "LIGHT" });
  expect(await patch(null)).toBeNull();
  expect(await patch({ locale: "de" })).toEqual({ locale: "de" });
});

test("private fields are not searched", async () => {
  const user = await makeUser();
  const [local = ""] = user.email.split("@");
  const search = `query ($name: String) { users(search: $name) { nodes { id } } }`;
  const { data } = await users.graphql(search, { name: local }, await tokenOf("reader", user));
  expect(data.users.nodes).toEqual([]);
});

test("a user is the same at both endpoints", async () => {
  const user = await makeUser();
  const owner = await tokenOf("owner", user);
  const fields = `id ${userFields.names.join(" ")} email avatarUrl createdAt role prefs { locale timeZone theme newsletter }`;
  const { data, errors } = await users.graphql(`{ me { ${fields} } }`, {}, owner);
  const { body } = await users.rest("GET", `/v1/users/${user.id}`, toOptions(owner));
  expect(errors).toBeUndefined();
  expect(data.me).toEqual({ ...body, prefs: { locale: null, timeZone: null, newsletter: null, ...body.prefs } });
  const second = (await users.rest("GET", `/v2/users/${user.id}`, toOptions(owner))).body;
  const { email, prefs, avatarUrl, ...open } = body;
  expect(second).toEqual({
    ...open,
    avatar: avatarUrl === null ? null : { url: avatarUrl },
    private: { email, prefs },
  });
});

test("both endpoints report the same problems", async () => {
  const token = await tokenOf("keeper", await makeUser());
  const input = { name: " ", email: "no-address", prefs: { locale: "?" } };
  const graph = await users.graphql(create, { input }, token);
  const rest = await users.rest("POST", "/v1/users", { ...toOptions(token), body: input });
  expect([rest.status, rest.body.detail]).toEqual([422, graph.errors?.[0]?.message]);
  expect(rest.body.errors).toEqual(graph.errors?.[0]?.extensions.problems);
  const { name, ...hidden } = input;
  const second = await users.rest("POST", "/v2/users", { ...toOptions(token), body: { name, private: hidden } });
  const inner = rest.body.errors.map(({ pointer, ...output }: { pointer: string }) => ({
    ...output,
    pointer: pointer.replace(/^#\/(?=email|prefs)/, "#/private/"),
  }));
  expect([second.status, second.body.errors]).toEqual([422, inner]);
});

test("a deactivated account still resolves in GraphQL, without data; in REST it is 404, and 410 in version 2", async () => {
  const user = await makeUser();
  const owner = await tokenOf("owner", user);
  const selecting = deactivate.replace("{ id }", "{ name email deactivatedAt }");
  const deactivated = await users.graphql(selecting, { input: { id: user.id } }, owner);
  const empty = { name: "Former user", email: null };
  expect(deactivated.data.deactivateUser.user).toEqual({ ...empty, deactivatedAt: expect.any(String) });
  expect(await byGraphql(deactivate, { input: { id: user.id } }, owner)).toBe("INVALID_STATE");
  expect(await byGraphql(update, { input: { id: user.id, name: "Back" } }, owner)).toBe("INVALID_STATE");
  const reader = await tokenOf("reader", user);
  const query = `query ($id: ID!) { user(id: $id) { name email avatarUrl prefs { theme } } users(search: "Former") { nodes { id } } }`;
  const { data, errors } = await users.graphql(query, { id: user.id }, reader);
  expect(errors).toBeUndefined();
  expect(data).toEqual({ user: { ...empty, avatarUrl: null, prefs: null }, users: { nodes: [] } });
  for (const [version, code] of [
    ["v1", "NOT_FOUND"],
    ["v2", "GONE"],
  ] as const) {
    for (const token of [undefined, owner, reader]) {
      expect(await byRest("GET", `/${version}/users/${user.id}`, token)).toBe(code);
    }
    expect(await byRest("PATCH", `/${version}/users/${user.id}`, owner, { name: "Back" })).toBe(code);
  }
});

test("the tables have a request for every root field and route, and every private field", async () => {
  const sdl = await readFile(new URL("../schema.graphql", import.meta.url), "utf8");
  const user = await makeUser();
  users.takeSent();
  for (const sends of Object.values(endpoints))
    for (const send of Object.values<Send>(sends)) await send(user, undefined);
  const toDo = "add its action to `Action`, `whoMay` and `endpoints` above";
  expect(findUnsent(sdl, routes, users.takeSent()), toDo).toEqual([]);
  const userType = parse(sdl).definitions.find(
    (one) => one.kind === Kind.OBJECT_TYPE_DEFINITION && one.name.value === "User",
  );
  const fields = userType?.kind === Kind.OBJECT_TYPE_DEFINITION ? (userType.fields ?? []) : [];
  const secret = fields.filter(({ description }) => description?.value.startsWith("Private"));
  expect(secret.map(({ name }) => name.value)).toEqual(Object.keys(privateFields));
});

const create = `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }`;
const update = `mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { id } } }`;
const deactivate = `mutation ($input: DeactivateUserInput!) { deactivateUser(input: $input) { user { id } } }`;

/** Creates a user with all private fields. */
async function makeUser(): Promise<User> {
  const number = ++names;
  const [user] = await users.database.database.rows<User>(
    "make",
    `insert into users (name, email, prefs) values ($1, $2, '{"theme":"DARK"}') returning id, name, email`,
    [`Person${number}x`, `mail${number}x@example.org`],
  );
  return user as User;
}

async function tokenOf(name: Caller, user: User): Promise<string | undefined> {
  const { userId, scopes } = callers[name];
  return scopes === undefined ? undefined : users.issuer.token(userId ?? user.id, scopes);
}

async function byGraphql(query: string, variables: object, token: string | undefined): Promise<string> {
  const { status, data, errors } = await users.graphql(query, variables, token);
  expect(status).toBe(200);
  if (errors === undefined) return "allowed";
  expect(Object.values(data)).toEqual([null]);
  return errors[0]?.extensions.code ?? "no code";
}

/** Both versions have the same rules, and for these fields the same names. */
function byBothVersions(method: string, pathOf: (user: User) => string, input?: object): { v1: Send; v2: Send } {
  const send =
    (version: string): Send =>
    (user, token) =>
      byRest(method, `/${version}${pathOf(user)}`, token, input);
  return { v1: send("v1"), v2: send("v2") };
}

async function byRest(method: string, path: string, token: string | undefined, input?: object): Promise<string> {
  const headers = { "if-match": "*" };
  const o = { ...toOptions(token), headers, ...(input === undefined ? {} : { body: input }) };
  const { status, body } = await users.rest(method, path, o);
  if (status < 300) return "allowed";
  expect(status).toBe(body.status);
  return body.type.replace("/problems/", "").replaceAll("-", "_").toUpperCase();
}

function toOptions(token: string | undefined) {
  return token === undefined ? {} : { token };
}

async function hashRows(): Promise<unknown> {
  const text = "select md5(string_agg(users::text, '' order by id)) as hash from users";
  return (await users.database.database.rows<{ hash: string }>("hash", text))[0]?.hash;
}

function row(...outcomes: readonly [Outcome, Outcome, Outcome, Outcome, Outcome, Outcome]) {
  const [anonymous, owner, ownerWithoutScope, another, keeper, reader] = outcomes;
  return { anonymous, owner, ownerWithoutScope, another, keeper, reader };
}
