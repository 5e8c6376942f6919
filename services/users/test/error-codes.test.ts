import { readFileSync } from "node:fs";
import { collectFieldCodes, listFieldCodes } from "@tributary/kit/testing/field-codes";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startUsers } from "./fixtures.ts";

const sdl = readFileSync(new URL("../schema.graphql", import.meta.url), "utf8");
const mutations = `mutation ($new: CreateUserInput!, $changed: UpdateUserInput!, $id: ID!) {
  createUser(input: $new) { user { id } }
  updateUser(input: $changed) { user { id } }
  deactivateUser(input: { id: $id }) { user { id } }
}`;

let users: TestService;
beforeAll(async () => {
  users = await startUsers();
});
afterAll(() => users.stop());

test("each field has each error code that its description lists", async () => {
  const [admin, other] = await Promise.all([users.issuer.token("3", ["users:write:all"]), users.issuer.token("2", [])]);
  const privateFields = "{ user(id: 1) { email prefs { theme } } }";
  const create = `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }`;
  const keyed = { input: { name: "Eve", idempotencyKey: "eve" } };
  const { data } = await users.graphql(create, keyed, admin);
  const eve: string = data.createUser.user.id;
  const deactivate = `mutation { deactivateUser(input: { id: ${eve} }) { user { id } } }`;
  await users.graphql(deactivate, {}, admin);
  const send = (id: string, email: string) => ({ new: { name: "Bob", email }, changed: { id, email }, id });
  const answered = await collectFieldCodes(users, sdl, [
    [`{ users(first: 0) { nodes { id } } continued: users(after: "x") { nodes { id } } }`],
    [privateFields],
    [privateFields, {}, other],
    [mutations, send("1", "bob@example.org")],
    [mutations, send("1", "bob@example.org"), other],
    [mutations, send("2", "ada@example.org"), admin],
    [mutations, send(eve, "bob"), admin],
    [mutations, send("1", "bob"), admin],
    [mutations, send("99", "bob@example.org"), admin],
    [create, keyed, admin],
  ]);
  expect(answered).toEqual(listFieldCodes(sdl));
});
