import { etagOf, pickHeaders } from "@tributary/kit/testing/response-headers";
import type { RestTestAnswer, TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createUserActions } from "../src/actions.ts";
import { createUserStore } from "../src/store.ts";
import { startUsers, usual } from "./fixtures.ts";

let users: TestService;
let ada: string;
let grace: string;
let reader: string;
let keeper: string;
beforeAll(async () => {
  users = await startUsers();
  const { token } = users.issuer;
  [ada, grace, reader, keeper] = await Promise.all([
    token("1", usual),
    token("2", usual),
    token("3", ["users:read:private"]),
    token("3", ["users:write:all"]),
  ]);
});
afterAll(() => users.stop());
beforeEach(() => void users.database.takeStatements());

const publicHeaders = {
  "cache-control": "public, max-age=0, s-maxage=10",
  "cdn-cache-control": "public, max-age=10",
  "tributary-cache-control": "public, max-age=10, stale-while-revalidate=10, stale-if-error=60",
  vary: "Authorization",
};
const privateHeaders = {
  "cache-control": "private, no-cache",
  "cdn-cache-control": null,
  "tributary-cache-control": null,
  vary: "Authorization",
};
const problem = { "cache-control": "no-store", "cdn-cache-control": null, vary: "Authorization" };

for (const [path, group] of [
  ["/v2/users/1", '"users:1"'],
  ["/v2/users", '"users"'],
] as const) {
  test(`${path}: the email address is only in responses with the user's token, in any sequence of requests`, async () => {
    for (const order of [
      [undefined, ada, grace],
      [ada, grace, undefined],
    ]) {
      for (const token of order) {
        const { status, headers, text } = await get(path, token);
        expect([status, text.includes("ada@example.org")]).toEqual([200, token === ada]);
        expect(pickHeaders(headers, privateHeaders)).toEqual(token === undefined ? publicHeaders : privateHeaders);
        expect(headers.get("cache-groups")).toBe(group);
      }
    }
  });

  test(`${path}: the ETag of one view gives callers with another view a 200 with their own view`, async () => {
    const open = etagOf(await get(path));
    const mine = etagOf(await get(path, ada));
    for (const [token, foreign] of [
      [ada, open],
      [undefined, mine],
      [grace, mine],
    ] as const) {
      const response = await get(path, token, { "if-none-match": foreign });
      expect([response.status, response.text.includes("ada@example.org")]).toEqual([200, token === ada]);
    }
  });
}

test("a 304 needs one statement for versions only, a 200 one statement", async () => {
  for (const [path, whole, light] of [
    ["/users/1", "find-users", "find-user-states"],
    ["/users?limit=2", "list-users-first", "list-user-versions-first"],
    ["/users?role=READER", "list-users-first-role", "list-user-versions-first-role"],
    ["/users?search=ada", "list-users-first-search", "list-user-versions-first-search"],
  ] as const) {
    for (const token of [undefined, ada]) {
      const open = await get(`/v2${path}`, token);
      expect([path, users.database.takeStatements()]).toEqual([path, [whole]]);
      const known = await get(`/v2${path}`, token, { "if-none-match": `W/${etagOf(open)}` });
      expect([path, known.status, users.database.takeStatements()]).toEqual([path, 304, [light]]);
    }
  }
});

test("the ETag of a list is valid only for callers with the same view", async () => {
  const path = "/v2/users";
  const views = [await get(path), await get(path, ada), await get(path, grace), await get(path, reader)];
  expect(new Set(views.map(etagOf)).size).toBe(4);
  expect((await get(path, reader, { "if-none-match": views.map(etagOf).join(", ") })).status).toBe(304);
});

test("a deactivated account is never a 304", async () => {
  const id = await makeUser();
  const owner = await users.issuer.token(id, usual);
  const [open, mine, listed] = [
    await get(`/v2/users/${id}`),
    await get(`/v2/users/${id}`, owner),
    await get("/v2/users"),
  ];
  await users.graphql(`mutation { deactivateUser(input: { id: ${id} }) { user { id } } }`, {}, owner);
  for (const [version, status] of [
    ["v1", 404],
    ["v2", 410],
  ] as const) {
    for (const etag of [etagOf(open), etagOf(mine), "*"]) {
      for (const token of [undefined, owner, reader]) {
        const response = await get(`/${version}/users/${id}`, token, { "if-none-match": etag });
        expect([response.status, pickHeaders(response.headers, problem)]).toEqual([status, problem]);
      }
    }
  }
  const list = await get("/v2/users", undefined, { "if-none-match": etagOf(listed) });
  expect([list.status, list.body.data.map((user: { id: string }) => user.id).includes(id)]).toEqual([200, false]);
});

test("a write invalidates the user and all lists; a rejected write invalidates none", async () => {
  const created = await users.rest("POST", "/v2/users", { token: keeper, body: { name: "New" } });
  expect([created.status, created.headers.get("cache-group-invalidation")]).toEqual([201, '"users"']);
  const path = `/v2/users/${created.body.id}`;
  expect(etagOf(created)).toBe(etagOf(await get(path)));
  const rejected = await patch(path, { name: "Newer" }, '"99-v1.x-public"');
  expect([rejected.status, rejected.headers.get("cache-group-invalidation")]).toEqual([412, null]);
  const changed = await patch(path, { name: "Newer" }, etagOf(created));
  expect([changed.status, changed.headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(changed.headers.get("cache-group-invalidation")).toBe(`"users", "users:${created.body.id}"`);
  expect(etagOf(changed)).toBe(etagOf(await get(path)));
  expect(etagOf(changed)).not.toBe(etagOf(created));
});

test("a change without effect leaves ETags valid", async () => {
  const path = `/v2/users/${await makeUser()}`;
  const before = etagOf(await get(path));
  for (const body of [{}, { name: "Katherine" }]) {
    const changed = await patch(path, body, before);
    expect([changed.status, etagOf(changed)]).toEqual([200, before]);
  }
  expect((await get(path, undefined, { "if-none-match": before })).status).toBe(304);
});

test("concurrent reads of user states share a statement, and each gets its own result", async () => {
  const actions = createUserActions(createUserStore(users.database.database));
  const reads = ["1", "2", "1", "x", "999"].map((id) => actions.getActiveState(id, "GONE"));
  const ids = (await Promise.allSettled(reads)).map((one) => (one.status === "fulfilled" ? one.value.id : "rejected"));
  expect(ids).toEqual(["1", "2", "1", "rejected", "rejected"]);
  expect(users.database.takeStatements()).toEqual(["find-user-states"]);
});

test("the two versions have different ETags, and If-Match accepts either of them while the user is unchanged", async () => {
  const id = await makeUser();
  const [first, second] = [await get(`/v1/users/${id}`), await get(`/v2/users/${id}`)];
  expect((await get(`/v2/users/${id}`, undefined, { "if-none-match": etagOf(first) })).status).toBe(200);
  expect((await get("/v2/users", undefined, { "if-none-match": etagOf(await get("/v1/users")) })).status).toBe(200);
  expect((await patch(`/v2/users/${id}`, { name: "Anew" }, etagOf(first))).status).toBe(200);
  expect((await patch(`/v1/users/${id}`, { name: "Late" }, etagOf(second))).status).toBe(412);
});

test("a change is rejected if If-None-Match matches", async () => {
  const path = `/v2/users/${await makeUser()}`;
  const etag = etagOf(await get(path, keeper));
  const send = (ifNoneMatch: string) =>
    users.rest("PATCH", path, {
      token: keeper,
      body: { name: "Changed" },
      headers: { "if-match": "*", "if-none-match": ifNoneMatch },
    });
  for (const named of ["*", etag]) {
    const rejected = await send(named);
    expect([named, rejected.status, rejected.headers.get("cache-group-invalidation")]).toEqual([named, 412, null]);
  }
  expect((await get(path, keeper, { "if-none-match": etag })).status).toBe(304);
  expect((await send('"0-v1.x-public"')).status).toBe(200);
});

async function makeUser(): Promise<string> {
  const text = "insert into users (name, email) values ('Katherine', null) returning id";
  const [user] = await users.database.database.rows<{ id: string }>("make", text);
  return user?.id ?? "none";
}

function get(path: string, token?: string, headers: Record<string, string> = {}): Promise<RestTestAnswer> {
  return users.rest("GET", path, { ...(token === undefined ? {} : { token }), headers });
}

function patch(path: string, body: object, ifMatch: string): Promise<RestTestAnswer> {
  return users.rest("PATCH", path, { token: keeper, body, headers: { "if-match": ifMatch } });
}
