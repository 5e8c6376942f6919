import { AppError } from "@tributary/kit/errors/app-error";
import type { Database, Writer } from "@tributary/kit/postgres/postgres";
import { explain, type PlanNode } from "@tributary/kit/testing/explain";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createOrderStore } from "../src/store.ts";
import { oneBook, type Orders, startOrders } from "./fixtures.ts";

const place = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id } } }`;

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

let orders: Orders;
let database: Database;
let middle: string;
beforeAll(async () => {
  orders = await startOrders();
  ({ database } = orders.database);
  const { rows } = database;
  await rows(
    "products",
    `insert into products (sku, title, price_minor, currency, stock)
      select 'P-' || lpad(n::text, 5, '0'), 'Product ' || n, 100, 'EUR', 100000 from generate_series(1, 20000) as n`,
  );
  await rows(
    "orders",
    `insert into orders (customer_id, status, total_minor, currency)
      select 1 + n % 400, (array['PLACED', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED'])[1 + n / 400 % 5], 100, 'EUR'
      from generate_series(1, 8000) as n`,
  );
  await rows(
    "lines",
    `insert into order_lines (order_id, sku, quantity, unit_price_minor)
      select o.id, 'P-' || lpad(n::text, 5, '0'), 1, 100 from orders o, generate_series(1, 2) as n`,
  );
  await rows(
    "records",
    `insert into idempotency_records (customer_id, key, fingerprint, order_id, snapshot, created_at)
      select customer_id, id::text, sha256('x'), id, '{}', now() - random() * interval '25 hours' from orders`,
  );
  await rows("analyze", "vacuum analyze");
  const [row] = await rows<{ id: string }>(
    "middle",
    "select id from orders where customer_id = 7 order by id offset 15 limit 1",
  );
  middle = row?.id ?? "";
});
afterAll(() => orders.stop());

let recorded: Statement[] = [];
const store = createOrderStore(recorder());

const first = { limit: 5 };
const at = (direction: "next" | "prev", id = middle) => ({ limit: 5, position: { direction, id } });
const lines = [
  { sku: "P-00007", quantity: 1 },
  { sku: "P-00003", quantity: 1 },
];

type Case = readonly [indexes: readonly string[], run: () => Promise<unknown>];

/** Every read, with the indexes of its statement. */
const reads: Readonly<Record<string, Case>> = {
  products: [["products_pkey"], () => store.listProducts(first)],
  "products, further on": [["products_pkey"], () => store.listProducts(at("next", "P-10000"))],
  "products, backwards": [["products_pkey"], () => store.listProducts(at("prev", "P-10000"))],
  "products' versions": [["products_pkey"], () => store.listProductVersions(first)],
  "versions of products by sku": [["products_pkey"], () => store.findProductVersions(["P-00001", "P-19999"])],
  "products by sku": [["products_pkey"], () => store.findProducts(["P-00001", "P-19999"])],
  "a customer's orders": [["orders_by_customer"], () => store.listOrders("7", {}, first)],
  "a customer's orders, further on": [["orders_by_customer"], () => store.listOrders("7", {}, at("next"))],
  "a customer's orders, backwards": [["orders_by_customer"], () => store.listOrders("7", {}, at("prev"))],
  "a customer's orders, oldest first": [["orders_by_customer"], () => store.listOrders("7", { sort: "oldest" }, first)],
  "a customer's orders, oldest first, further on": [
    ["orders_by_customer"],
    () => store.listOrders("7", { sort: "oldest" }, at("next")),
  ],
  "a customer's paid orders, oldest first": [
    ["orders_by_customer_and_status"],
    () => store.listOrders("7", { status: "PAID", sort: "oldest" }, at("next")),
  ],
  "a customer's paid orders": [
    ["orders_by_customer_and_status"],
    () => store.listOrders("7", { status: "PAID" }, first),
  ],
  "a customer's paid orders, further on": [
    ["orders_by_customer_and_status"],
    () => store.listOrders("7", { status: "PAID" }, at("next")),
  ],
  "versions of a customer's orders": [["orders_by_customer"], () => store.listOrderVersions("7", {}, at("next"))],
  "versions of a customer's paid orders": [
    ["orders_by_customer_and_status"],
    () => store.listOrderVersions("7", { status: "PAID" }, first),
  ],
  "an order's version": [["orders_pkey"], () => store.findOrderState(middle)],
  "many customers' orders": [
    ["orders_by_customer"],
    () => store.listPagesOfCustomers(["1", "2", "3"].map((customerId) => ({ customerId, limit: 5 }))),
  ],
  "many customers' orders, further on": [
    ["orders_by_customer"],
    () => store.listPagesOfCustomers(["1", "2", "3"].map((customerId) => ({ customerId, limit: 5, after: middle }))),
  ],
  "orders by id": [["orders_pkey"], () => store.findOrders([middle])],
  "lines of orders": [["order_lines_pkey", "orders_pkey"], () => store.findLines([middle])],
};

test.each(Object.entries(reads))(
  "%s are read from indexes, with a custom and a generic plan",
  async (_, [indexes, run]) => {
    recorded = [];
    await run();
    const [statement, ...others] = recorded;
    expect(others).toEqual([]);
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      expect([mode, indexesOf(await explain(database, statement as Statement, mode))]).toEqual([mode, indexes]);
    }
  },
);

test("reads of versions select only the version columns", async () => {
  const { items } = await store.listOrderVersions("7", {}, first);
  const products = [
    ...(await store.findProductVersions(["P-00001"])),
    ...(await store.listProductVersions(first)).items,
  ];
  for (const row of [...items, ...products]) expect(Object.keys(row)).toEqual(["id", "rowVersion"]);
  expect(Object.keys((await store.findOrderState(middle)) ?? {})).toEqual(["id", "rowVersion", "customerId"]);
});

test("placing, replaying and cancelling never scan a whole table", async () => {
  recorded = [];
  const { order } = (await store.placeOrder("7", { lines, idempotencyKey: "plan" })).result;
  await store.changeStatus(order.id, "CANCELLED", () => {});
  expect(recorded.map(({ name }) => name)).toEqual([
    "lock-key",
    "find-record",
    "lock-products",
    "take-stock",
    "insert-order",
    "insert-lines",
    "insert-record",
    "delete-expired-records",
    "lock-order",
    "lock-products-of-order",
    "give-back",
    "move-order",
  ]);
  for (const statement of recorded.filter(({ name }) => !name.startsWith("insert"))) {
    const nodes = await explain(database, statement, "force_generic_plan");
    expect([statement.name, nodes.map((node) => node["Node Type"])]).not.toEqual([
      statement.name,
      expect.arrayContaining(["Seq Scan"]),
    ]);
  }
});

test("a page at the end of a list reads no more rows than the first page", async () => {
  for (const request of [first, at("next")]) {
    recorded = [];
    await store.listOrders("7", {}, request);
    const nodes = await explain(database, recorded[0] as Statement, "force_generic_plan");
    const scan = nodes.find((node) => node["Index Name"] !== undefined);
    expect([scan?.["Actual Rows"], scan?.["Rows Removed by Filter"] ?? 0]).toEqual([6, 0]);
  }
});

describe("writes", () => {
  beforeEach(async () => {
    const { database } = orders.database;
    await database.rows("forget", "truncate idempotency_records, order_lines, orders");
    const restock = `update products set stock = case sku when 'LAST-SEVEN' then 7 else 1000 end
      where sku in ('COMPILER', 'LAST-SEVEN', 'NOTES')`;
    await database.rows("restock", restock);
  });

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
        const { errors } = await orders.graphql(
          place,
          { input: { lines: [{ sku: "LAST-SEVEN", quantity: 1 }] } },
          token,
        );
        return errors === undefined ? "placed" : `409 ${errors[0]?.extensions.code}`;
      }),
    );
    const placed = codes.filter((code) => code === "placed");
    const rejected = codes.filter((code) => code === "409 /problems/out-of-stock" || code === "409 OUT_OF_STOCK");
    expect([placed.length, rejected.length]).toEqual([7, 43]);
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
    await orders.database.database.rows("plenty", "update products set stock = 1000 where sku = 'LAST-SEVEN'");
    const work = async (n: number) => {
      const lines = (n % 2 === 0 ? skus : skus.toReversed()).map((sku) => ({ sku, quantity: 1 }));
      for (let round = 0; round < 3; round++) {
        const { result } = await store.placeOrder(String(n + 1), { lines, idempotencyKey: `${n}-${round}` });
        await store.changeStatus(result.order.id, "CANCELLED", () => {});
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
});

function indexesOf(nodes: readonly PlanNode[]): readonly string[] {
  expect(nodes.map((node) => node["Node Type"])).not.toContain("Seq Scan");
  return nodes.flatMap((node) => node["Index Name"] ?? []).toSorted();
}

/** Records the store's statements and forwards them. */
function recorder(): Database {
  const recording = (to: () => Writer): Writer => ({
    rows: (name, text, values = []) => {
      recorded.push({ name, text, values });
      return to().rows(name, text, values);
    },
    write: (name, text, values = []) => {
      recorded.push({ name, text, values });
      return to().write(name, text, values);
    },
  });
  return {
    ...recording(() => database),
    transaction: (work) => database.transaction((inner) => work(recording(() => inner))),
    isReachable: () => database.isReachable(),
    close: () => database.close(),
  };
}

function fifty<T>(make: (n: number) => T): T[] {
  return Array.from({ length: 50 }, (_, n) => make(n));
}
