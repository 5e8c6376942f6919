import { AppError } from "@tributary/kit/errors/app-error";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createOrderStore } from "../src/store.ts";
import { oneBook, type Orders, startOrders } from "./fixtures.ts";

let orders: Orders;
beforeAll(async () => (orders = await startOrders()));
afterAll(() => orders.stop());
beforeEach(async () => {
  const { database } = orders.database;
  await database.rows("forget", "truncate idempotency_records, order_lines, orders");
  await database.rows("restock", "update products set stock = case sku when 'LAST-SEVEN' then 7 else 1000 end");
});

const place = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id } } }`;

test("fifty concurrent orders for the last seven pieces: seven succeed", async () => {
  const tokens = await Promise.all(fifty((n) => orders.issuer.token(String(n + 1), ["orders:write"])));
  const codes = await Promise.all(
    tokens.map(async (token, n) => {
      if (n % 2 === 0) {
        const { status, body } = await orders.rest("POST", "/v1/orders", {
          token,
          body: { lines: [{ sku: "LAST-SEVEN", qty: 1 }] },
        });
        return status === 201 ? "placed" : `${status} ${body.type}`;
      }
      const { errors } = await orders.graphql(place, { input: { lines: [{ sku: "LAST-SEVEN", quantity: 1 }] } }, token);
      return errors === undefined ? "placed" : `409 ${errors[0]?.extensions.code}`;
    }),
  );
  const placed = codes.filter((code) => code === "placed");
  const refused = codes.filter((code) => code === "409 /problems/out-of-stock" || code === "409 OUT_OF_STOCK");
  expect([placed.length, refused.length]).toEqual([7, 43]);
  expect([await orders.stockOf("LAST-SEVEN"), await orders.count()]).toEqual([0, [7, 7, 0]]);
});

test("fifty requests with one key, through both endpoints: one order", async () => {
  const responses = await Promise.all(
    fifty(async (n) => {
      if (n % 2 === 0) {
        const headers = { "idempotency-key": "one" };
        const { status, body } = await orders.rest("POST", "/v1/orders", {
          token: orders.ada,
          body: { lines: oneBook },
          headers,
        });
        return status === 201 ? body.id : `${status} ${body.type}`;
      }
      const input = { lines: [{ sku: "NOTES", quantity: 1 }], idempotencyKey: "one" };
      const { data, errors } = await orders.graphql(place, { input }, orders.ada);
      return data?.placeOrder?.order.id ?? `409 ${errors?.[0]?.extensions.code}`;
    }),
  );
  const inFlight = new Set(["409 /problems/idempotency-key-in-flight", "409 IDEMPOTENCY_KEY_IN_FLIGHT"]);
  const ids = new Set(responses.filter((response) => !inFlight.has(response)));
  expect([...ids]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect([await orders.stockOf("NOTES"), await orders.count()]).toEqual([999, [1, 1, 1]]);
});

test("an order that fails half-way leaves no rows", async () => {
  const { database } = orders.database;
  const lines = [
    { sku: "COMPILER", quantity: 1 },
    { sku: "NOTES", quantity: 1 },
  ];
  for (const table of ["orders", "order_lines", "idempotency_records"]) {
    await database.rows(`break-${table}`, `alter table ${table} add constraint broken check (false) not valid`);
    const failed = createOrderStore(database).placeOrder("1", { lines, idempotencyKey: "half" });
    await expect(failed).rejects.toThrow("broken");
    await database.rows(`mend-${table}`, `alter table ${table} drop constraint broken`);
  }
  expect(await orders.count()).toEqual([0, 0, 0]);
  expect([await orders.stockOf("COMPILER"), await orders.stockOf("NOTES")]).toEqual([1000, 1000]);
});

test("a rejected order takes nothing from stock, not even for available lines", async () => {
  const lines = [...oneBook, { sku: "LAST-SEVEN", qty: 8 }];
  expect((await orders.rest("POST", "/v1/orders", { token: orders.ada, body: { lines } })).status).toBe(409);
  expect([await orders.stockOf("NOTES"), await orders.count()]).toEqual([1000, [0, 0, 0]]);
});

test("a database constraint prevents negative stock", async () => {
  const steal = orders.database.database.rows(
    "steal",
    "update products set stock = stock - 8 where sku = 'LAST-SEVEN'",
  );
  await expect(steal).rejects.toThrow("products_stock_check");
});

test("concurrent cancellations return the stock once", async () => {
  const id = await orders.place(orders.ada, [
    { sku: "LAST-SEVEN", qty: 3 },
    { sku: "NOTES", qty: 5 },
  ]);
  expect([await orders.stockOf("LAST-SEVEN"), await orders.stockOf("NOTES")]).toEqual([4, 995]);
  const cancel = () => orders.rest("POST", `/v1/orders/${id}/cancellation`, { token: orders.ada });
  const statuses = (await Promise.all(fifty(cancel))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(49);
  expect([await orders.stockOf("LAST-SEVEN"), await orders.stockOf("NOTES")]).toEqual([7, 1000]);
});

test("concurrent orders and cancellations, with products in any sequence, never deadlock", async () => {
  const store = createOrderStore(orders.database.database);
  const waits: unknown[] = [];
  const skus = ["COMPILER", "LAST-SEVEN", "NOTES"];
  await orders.database.database.rows("plenty", "update products set stock = 1000");
  const work = async (n: number) => {
    const lines = (n % 2 === 0 ? skus : skus.toReversed()).map((sku) => ({ sku, quantity: 1 }));
    for (let round = 0; round < 3; round++) {
      const { order } = await store.placeOrder(String(n + 1), { lines, idempotencyKey: `${n}-${round}` });
      await store.changeStatus(order.id, "CANCELLED", () => {});
    }
  };
  orders.database.takeStatements();
  await Promise.all(fifty((n) => work(n).catch((error: unknown) => waits.push(error))));
  expect(waits).toEqual([]);
  // A deadlock would cause a retry, which this count detects.
  const statements = orders.database.takeStatements();
  expect([
    statements.filter((name) => name === "lock-key").length,
    statements.filter((name) => name === "lock-order").length,
  ]).toEqual([150, 150]);
  expect(await Promise.all(skus.map((sku) => orders.stockOf(sku)))).toEqual([1000, 1000, 1000]);
});

test("a database that is too slow is SERVICE_UNAVAILABLE, and no order is placed", async () => {
  const { database } = orders.database;
  const held = database.transaction(async (transaction) => {
    await transaction.rows("hold", "select 1 from products where sku = 'NOTES' for update");
    const impatient = createOrderStore({
      ...database,
      transaction: (work) =>
        database.transaction(async (inner) => {
          await inner.rows("hurry", "set local lock_timeout = '20ms'");
          return work(inner);
        }),
    });
    const refusal = impatient.placeOrder("1", { lines: [{ sku: "NOTES", quantity: 1 }] });
    await expect(refusal).rejects.toSatisfy(
      (error) => error instanceof AppError && error.code === "SERVICE_UNAVAILABLE",
    );
  });
  await held;
  expect(await orders.count()).toEqual([0, 0, 0]);
});

function fifty<T>(make: (n: number) => T): T[] {
  return Array.from({ length: 50 }, (_, n) => make(n));
}
