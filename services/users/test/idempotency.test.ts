import { defineIdempotencyTests } from "@tributary/kit/testing/idempotency";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startUsers } from "./fixtures.ts";

let users: TestService;
let admin: string;
beforeAll(async () => {
  users = await startUsers();
  admin = await users.issuer.token("1", ["users:write:all", "users:read:private"]);
});
afterAll(() => users.stop());

defineIdempotencyTests({
  service: () => users,
  scope: "users:write:all",
  path: "/users",
  table: "users",
  statement: "insert-user",
  mutation: `mutation ($input: CreateUserInput!) { created: createUser(input: $input) { row: user {
    id name avatarUrl role createdAt deactivatedAt } } }`,
  bodies: (text) => ({
    v1: { name: text, avatarUrl: "https://example.org/a.png", prefs: { theme: "DARK", newsletter: null } },
    v2: { name: text, avatar: { url: "https://example.org/a.png" }, private: { prefs: { theme: "DARK" } } },
    graphql: { prefs: { theme: "DARK" }, avatarUrl: "https://example.org/a.png", name: text, role: "READER" },
  }),
  change: "update users set name = 'Changed', role = 'EDITOR', prefs = null where id = $1",
});

const create = (key: string, body: object, token = admin) =>
  users.rest("POST", "/v1/users", { token, body, headers: { "idempotency-key": key } });
const deactivate = (id: string) =>
  users.graphql(`mutation ($id: ID!) { deactivateUser(input: { id: $id }) { user { id } } }`, { id }, admin);
const recordsOf = (key: string) =>
  users.database.database.rows(
    `records-of-${key}`,
    `select entity_id as "entityId", fingerprint, snapshot from idempotency_keys where key = '${key}'`,
  );
const countUsers = async () => (await users.database.database.rows("count-users", "select 1 from users")).length;

test("a replay has the private fields as they were created", async () => {
  const body = { name: "Eve", email: "Eve@Example.org", prefs: { locale: "en-GB" } };
  const first = await create("private", body);
  await users.database.database.rows("move", "update users set email = 'moved@example.org' where id = $1", [
    first.body.id,
  ]);
  const again = await create("private", body);
  expect(again.body).toMatchObject({ email: "eve@example.org", prefs: { locale: "en-GB" } });
});

test("an email address that is taken is not recorded: the same request can succeed later", async () => {
  const body = { name: "Second Ada", email: "ada@example.org" };
  const taken = await create("taken", body);
  expect([taken.status, taken.body.errors[0].code]).toEqual([409, "taken"]);
  await users.database.database.rows("free", "update users set email = null where id = 1");
  const created = await create("taken", body);
  expect([created.status, created.headers.has("idempotency-replayed")]).toEqual([201, false]);
  // The address of the replay is that of the user whom the key has created.
  expect((await create("taken", body)).text).toBe(created.text);
});

describe("deactivation", () => {
  test("erases the stored responses about the user, and a repeated request creates no user", async () => {
    const body = { name: "Mallory", email: "mallory@example.org" };
    const { id } = (await create("erased", body)).body;
    const otherAdmin = await users.issuer.token("2", ["users:write:all"]);
    await create("remains", { name: "Trent" }, otherAdmin);
    await deactivate(id);
    expect(await recordsOf("erased")).toEqual([{ entityId: id, fingerprint: null, snapshot: null }]);
    expect(await recordsOf("remains")).toMatchObject([{ snapshot: { name: "Trent" } }]);

    const before = await countUsers();
    for (const sent of [body, { name: "Other" }]) {
      const again = await create("erased", sent);
      expect([again.status, again.body.type]).toEqual([410, "/problems/gone"]);
      expect(again.text).not.toContain("mallory");
    }
    const document = `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }`;
    const { data, errors } = await users.graphql(document, { input: { ...body, idempotencyKey: "erased" } }, admin);
    expect([data, errors?.[0]?.extensions.code]).toEqual([{ createUser: null }, "GONE"]);
    expect(await countUsers()).toBe(before);
    // With a new key the same user can be created again.
    expect((await create("erased-anew", body)).status).toBe(201);
  });

  test("erases the stored responses to requests of the user", async () => {
    const { id } = (await create("new-admin", { name: "An administrator" })).body;
    const token = await users.issuer.token(id, ["users:write:all"]);
    const created = await create("by-new-admin", { name: "Peggy", email: "peggy@example.org" }, token);
    await deactivate(id);
    expect(await recordsOf("by-new-admin")).toEqual([{ entityId: created.body.id, fingerprint: null, snapshot: null }]);
    expect((await create("by-new-admin", { name: "Peggy", email: "peggy@example.org" }, token)).status).toBe(410);
  });

  test("erases the account and the stored responses together or not at all", async () => {
    const { rows } = users.database.database;
    const { id } = (await create("together", { name: "Trudy", email: "trudy@example.org" })).body;
    await rows("break", "alter table idempotency_keys add constraint broken check (snapshot is not null) not valid");
    await expect(deactivate(id)).rejects.toThrow("INTERNAL_SERVER_ERROR");
    await rows("mend", "alter table idempotency_keys drop constraint broken");
    expect(await rows("read-trudy", "select email from users where id = $1", [id])).toEqual([
      { email: "trudy@example.org" },
    ]);
    expect((await recordsOf("together"))[0]).toMatchObject({ snapshot: { name: "Trudy" } });
  });

  test("after 24 hours the key of an erased response can be used again", async () => {
    const { id } = (await create("erased-old", { name: "Victor" })).body;
    await deactivate(id);
    const age = "update idempotency_keys set created_at = now() - interval '24 hours' where key = 'erased-old'";
    await users.database.database.rows("age", age);
    const again = await create("erased-old", { name: "Victor" });
    expect(again.status).toBe(201);
    expect((await create("erased-old", { name: "Victor" })).text).toBe(again.text);
  });
});
