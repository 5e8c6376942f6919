import { readFileSync } from "node:fs";
import { collectFieldCodes, listFieldCodes } from "@tributary/kit/testing/field-codes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Orders, startOrders } from "./fixtures.ts";

const sdl = readFileSync(new URL("../schema.graphql", import.meta.url), "utf8");
const queries = `query ($first: Int) {
  order(id: "x") { id }
  orders(first: $first) { nodes { id } }
  after: orders(after: "x") { nodes { id } }
  products(first: 0) { nodes { sku } }
  afterProduct: products(after: "x") { nodes { sku } }
  _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { orders(first: $first) { id } } }
}`;
const mutations = `mutation ($quantity: Int!, $id: ID!) {
  placeOrder(input: { lines: [{ sku: "LAST-SEVEN", quantity: $quantity }] }) { order { id } }
  cancelOrder(input: { id: $id }) { order { id } }
  advanceOrder(input: { id: $id, to: DELIVERED }) { order { id } }
}`;

let orders: Orders;
beforeAll(async () => {
  orders = await startOrders();
});
afterAll(() => orders.stop());

test("each field has each error code that its description lists", async () => {
  const writer = await orders.issuer.token("3", ["orders:read:all", "orders:write"]);
  const id = await orders.place(orders.ada);
  const cancel =
    "mutation ($id: ID!, $key: String) { cancelOrder(input: { id: $id, idempotencyKey: $key }) { order { id } } }";
  const answered = await collectFieldCodes(orders, sdl, [
    [queries],
    [queries, { first: 0 }, orders.ada],
    [queries, {}, await orders.issuer.token("1", [])],
    [mutations, { quantity: 1, id }],
    [mutations, { quantity: 1, id }, writer],
    [mutations, { quantity: 0, id: "x" }, orders.ada],
    [mutations, { quantity: 1, id: "x" }, orders.keeper],
    [mutations, { quantity: 8, id }, orders.ada],
    [cancel, { id, key: "two words" }, orders.ada],
    [cancel, { id }, orders.ada],
    [mutations, { quantity: 1, id }, orders.keeper],
  ]);
  expect(answered).toEqual(listFieldCodes(sdl));
});
