import { testCacheGroups } from "@tributary/kit/testing/cache-groups";
import { groupsOfChange } from "../src/groups.ts";
import { routes } from "../src/rest/routes.ts";
import { startOrders, usual } from "./fixtures.ts";

const longSku = "L".repeat(64);
const manySkus = Array.from({ length: 32 }, (_, index) => `MANY-${index + 10}`);
/** With one product more, a header names the group of all products instead. */
const severalSkus = manySkus.slice(0, 31);
const placedId = "01900000-0000-7000-8000-000000000001";
const largeId = "01900000-0000-7000-8000-000000000002";
const shippedId = "01900000-0000-7000-8000-000000000003";

testCacheGroups({
  service: "orders",
  start: startOrders,
  routes,
  schema: new URL("../schema.graphql", import.meta.url),
  groupsOfChange,
  seed: `
    insert into products (sku, title, price_minor, currency, stock)
      select sku, 'A print', 100, 'EUR', 10 from unnest('{${[longSku, ...manySkus].join()}}'::text[]) as sku;
    insert into orders (id, customer_id, status, total_minor, currency) values
      ('${placedId}', 1, 'PLACED', 1799, 'EUR'), ('${largeId}', 1, 'PAID', 3200, 'EUR'), ('${shippedId}', 2, 'SHIPPED', 1299, 'EUR');
    insert into order_lines values ('${placedId}', 'NOTES', 1, 1299), ('${placedId}', '${longSku}', 5, 100), ('${shippedId}', 'NOTES', 1, 1299);
    insert into order_lines select '${largeId}', sku, 1, 100 from products where sku like 'MANY-%'`,
  callers: { ada: ["1", ...usual], grace: ["2", ...usual], keeper: ["3", "orders:read:all", "orders:write:all"] },
  reads: [
    ...["/products", "/products?limit=9", `/products/${longSku}`, "/products/MANY-10", "/products/MANY-41"],
    ...["NOTES", "COMPILER", "LAST-SEVEN", "TOKYO", "NOTHING", "no%20sku"].map((sku) => `/products/${sku}`),
    // Anonymous clients get 401.
    ...["/orders?limit=1&status=PLACED&sort=oldest&cursor=none", `/orders/${placedId}`],
    ...["/users/1/orders?limit=1&status=PLACED&sort=oldest&cursor=none"],
  ],
  queries: [
    ...[`order(id: "${placedId}")`, "orders", "products", "products(first: 9)"],
    ...[longSku, "MANY-10", "NOTES", "NOTHING", "no sku"].map((sku) => `product(sku: "${sku}")`),
  ],
  entities: [
    ...["NOTES", "COMPILER", "TOKYO", "MANY-11", longSku, "NOTHING"].map((sku) => ({ __typename: "Product", sku })),
    ...[placedId, largeId].map((id) => ({ __typename: "Order", id })),
    ...["1", "99"].map((id) => ({ __typename: "User", id })),
  ],
  writes: {
    visible: [
      ...[["NOTES"], ["LAST-SEVEN", longSku], severalSkus, manySkus].flatMap((skus) => [
        { rest: "POST /v1/orders", as: "ada", body: { lines: skus.map((sku) => ({ sku, qty: 1 })) } },
        { rest: "POST /v2/orders", as: "ada", body: { lines: skus.map((sku) => ({ sku, quantity: 1 })) } },
        { mutation: "placeOrder", as: "grace", input: { lines: skus.map((sku) => ({ sku, quantity: 1 })) } },
      ]),
      ...[placedId, largeId].flatMap((id) => [
        { rest: `POST /orders/${id}/cancellation`, as: "keeper" },
        { mutation: "cancelOrder", as: "ada", input: { id } },
      ]),
      { sql: "update products set stock = stock + 1" },
      { sql: "update products set sku = 'NOTHING' where sku = 'TOKYO'" },
    ],
    hidden: [
      { mutation: "advanceOrder", as: "keeper", input: { id: placedId, to: "PAID" } },
      { sql: "update products set stock = stock" },
      { sql: "update orders set customer_id = 2" },
      { sql: "delete from order_lines" },
    ],
    rejected: [
      { rest: "POST /v1/orders", as: "ada", body: { lines: [{ sku: "LAST-SEVEN", qty: 8 }] } },
      { rest: `POST /orders/${shippedId}/cancellation`, as: "grace" },
      { mutation: "cancelOrder", as: "grace", input: { id: placedId } },
    ],
  },
  tables: {
    products: {
      insert: "(sku, title, price_minor, currency, stock) values ('NOTHING', 'A print', 1, 'EUR', 1)",
      where: "sku = 'COMPILER'",
      update: {
        sku: "'NOTHING'",
        title: "'Fresh'",
        price_minor: "1",
        currency: "'USD'",
        stock: "0",
        post_id: "99",
        row_version: "1",
      },
    },
    orders: "hidden",
    order_lines: "hidden",
    idempotency_records: "hidden",
  },
});
