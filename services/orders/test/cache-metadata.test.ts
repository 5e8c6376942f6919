import { afterAll, beforeAll, expect, test } from "vitest";
import { startOrders } from "./fixtures.ts";

// Which GraphQL responses a cache may store, and their groups.

let service: Awaited<ReturnType<typeof startOrders>>;
beforeAll(async () => (service = await startOrders()));
afterAll(() => service.stop());

test.each([
  [
    `{ product(sku: "NOTES") { title price { display } post { id } } }`,
    ["orders:product-NOTES", "orders:every-product"],
  ],
  [`{ product(sku: "no such sku") { title } }`, []],
  [`{ products { edges { node { stock } } } }`, ["orders:products"]],
])("the response to %s may be stored", async (query, groups) => {
  expect(await service.cacheMetadataOf(query)).toMatchObject({ seconds: 10, groups });
});

test.each([
  `{ orders { edges { node { id } } } }`,
  `{ order(id: "00000000-0000-7000-8000-000000000000") { id } }`,
  `{ _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { orders { id } } } }`,
])("the response to %s must not be stored: it depends on the caller, or has errors", async (query) => {
  expect(await service.cacheMetadataOf(query)).toBeUndefined();
});
