import { afterAll, beforeAll, expect, test } from "vitest";
import { startUsers } from "./fixtures.ts";

// Which GraphQL responses a cache may store, and their groups.

let service: Awaited<ReturnType<typeof startUsers>>;
beforeAll(async () => (service = await startUsers()));
afterAll(() => service.stop());

test.each([
  [`{ user(id: "1") { name } }`, ["users:1"]],
  [`{ user(id: "99") { name } }`, ["users:99"]],
  [`{ users { edges { node { name } } } }`, ["users"]],
  [`{ _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { name } } }`, ["users:1"]],
])("the response to %s may be stored", async (query, groups) => {
  expect(await service.cacheMetadataOf(query)).toMatchObject({ seconds: 10, groups });
});

test.each([
  `{ user(id: "1") { email } }`,
  `{ users { edges { node { prefs { theme } } } } }`,
  `{ me { name } }`,
  `{ users(first: 0) { edges { node { name } } } }`,
])("the response to %s must not be stored: it depends on the caller, or has errors", async (query) => {
  expect(await service.cacheMetadataOf(query)).toBeUndefined();
});
