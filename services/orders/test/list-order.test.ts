import { readListOrder, expectedListOrder } from "@tributary/kit/testing/list-order";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Orders, startOrders } from "./fixtures.ts";

let orders: Orders;
beforeAll(async () => {
  orders = await startOrders();
  for (let count = 0; count < 5; count++) await orders.place(orders.ada);
});
afterAll(() => orders.stop());

for (const version of ["v1", "v2"]) {
  for (const list of ["/orders?", "/users/1/orders?", "/orders?status=PLACED&"]) {
    const path = `/${version}${list}`;

    test(`${path} can be sorted from either end, and has no other order`, async () => {
      expect(await readListOrder(orders, path, orders.ada)).toEqual(expectedListOrder);
    });
  }
}
