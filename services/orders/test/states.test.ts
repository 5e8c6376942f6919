import { afterAll, beforeAll, expect, test } from "vitest";
import { type OrderStatus, orderStatuses } from "../src/model.ts";
import { type Orders, startOrders } from "./fixtures.ts";

let orders: Orders;
beforeAll(async () => (orders = await startOrders()));
afterAll(() => orders.stop());

const advance = `mutation ($id: ID!, $to: OrderStatus!) { advanceOrder(input: { id: $id, to: $to }) { order { id status } } }`;
const cancel = `mutation ($id: ID!) { cancelOrder(input: { id: $id }) { order { id status lines { product { stock } } } } }`;

test("an order advances to DELIVERED, and each step increments its row version", async () => {
  const id = await orders.place(orders.ada);
  const read = () => orders.rest("GET", `/v1/orders/${id}`, { token: orders.ada });
  const versionOf = ({ headers }: { headers: Headers }) => BigInt(headers.get("etag")?.split("-")[0]?.slice(1) ?? 0);
  const placed = versionOf(await read());
  for (const [index, to] of (["PAID", "SHIPPED", "DELIVERED"] as const).entries()) {
    const { data } = await orders.graphql(advance, { id, to }, orders.keeper);
    expect(data.advanceOrder.order).toEqual({ id, status: to });
    const now = await read();
    expect([versionOf(now), now.body.status]).toEqual([placed + BigInt(index + 1), to]);
  }
});

const advances = new Set(["PLACED PAID", "PAID SHIPPED", "SHIPPED DELIVERED"]);

for (const from of orderStatuses) {
  for (const to of orderStatuses) {
    const expected = advances.has(`${from} ${to}`) ? to : "INVALID_STATE";
    test(`advancing from ${from} to ${to}: ${expected}`, async () => {
      const id = await orderIn(from);
      const { data, errors } = await orders.graphql(advance, { id, to }, orders.keeper);
      expect(errors?.[0]?.extensions.code ?? data.advanceOrder.order.status).toBe(expected);
      const { body } = await orders.rest("GET", `/v1/orders/${id}`, { token: orders.ada });
      expect(body.status).toBe(expected === "INVALID_STATE" ? from : to);
    });
  }

  const expected = from === "PLACED" || from === "PAID" ? "CANCELLED" : "INVALID_STATE";
  test(`cancelling from ${from}: ${expected}; only a cancellation returns the stock`, async () => {
    const id = await orderIn(from);
    const before = await orders.stockOf("NOTES");
    const { data, errors } = await orders.graphql(cancel, { id }, orders.ada);
    expect(errors?.[0]?.extensions.code ?? data.cancelOrder.order.status).toBe(expected);
    expect(await orders.stockOf("NOTES")).toBe(expected === "CANCELLED" ? before + 1 : before);
    if (data.cancelOrder) expect(data.cancelOrder.order.lines).toEqual([{ product: { stock: before + 1 } }]);
  });
}

test("of a concurrent cancellation and advance one succeeds, and the stock matches", async () => {
  for (let round = 0; round < 10; round++) {
    const id = await orderIn("PAID");
    const before = await orders.stockOf("NOTES");
    await Promise.all([
      orders.graphql(advance, { id, to: "SHIPPED" }, orders.keeper),
      orders.graphql(cancel, { id }, orders.ada),
    ]);
    const { body } = await orders.rest("GET", `/v1/orders/${id}`, { token: orders.ada });
    expect([body.status, await orders.stockOf("NOTES")]).toEqual(
      body.status === "CANCELLED" ? ["CANCELLED", before + 1] : ["SHIPPED", before],
    );
  }
});

test("an unknown order cannot change its status", async () => {
  for (const id of ["x", "0190b5f0-0000-7000-8000-000000000000"]) {
    for (const response of [
      orders.graphql(advance, { id, to: "PAID" }, orders.keeper),
      orders.graphql(cancel, { id }, orders.ada),
    ]) {
      expect((await response).errors?.[0]?.extensions.code).toBe("NOT_FOUND");
    }
  }
});

async function orderIn(status: OrderStatus): Promise<string> {
  const id = await orders.place(orders.ada);
  await orders.database.database.rows("set-status", "update orders set status = $2 where id = $1", [id, status]);
  return id;
}
