import { fileURLToPath } from "node:url";
import type { Database, Queryable } from "@tributary/kit/postgres/postgres";
import { createTestDatabase, type TestDatabase } from "@tributary/kit/testing/database";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createOrderStore } from "../src/store.ts";
import { migrations } from "./fixtures.ts";

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

let database: TestDatabase;
let middle: string;
beforeAll(async () => {
  database = await createTestDatabase(inject("postgresUrl"), fileURLToPath(migrations));
  const { rows } = database.database;
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
afterAll(() => database.close());

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

for (const [name, [indexes, run]] of Object.entries(reads)) {
  for (const mode of ["force_custom_plan", "force_generic_plan"]) {
    test(`${name} are read from ${indexes.join(" and ")} under ${mode}`, async () => {
      recorded = [];
      await run();
      expect(recorded).toHaveLength(1);
      for (const statement of recorded) expect(indexesOf(await planOf(statement, mode))).toEqual(indexes);
    });
  }
}

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
  const { order } = await store.placeOrder("7", { lines, idempotencyKey: "plan" });
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
    const nodes = await planOf(statement, "force_generic_plan");
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
    const nodes = await planOf(recorded[0] as Statement, "force_generic_plan");
    const scan = nodes.find((node) => node["Index Name"] !== undefined);
    expect([scan?.["Actual Rows"], scan?.["Rows Removed by Filter"] ?? 0]).toEqual([6, 0]);
  }
});

interface Node {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Node[];
}

/** Every plan node of a prepared statement, which runs once in a transaction that is rolled back. */
async function planOf({ text, values }: Statement, mode: string): Promise<readonly Node[]> {
  const undone = new Error("undone");
  let nodes: readonly Node[] = [];
  const work = database.database.transaction(async (transaction) => {
    const run = (command: string) => transaction.rows<{ "QUERY PLAN": [{ Plan: Node }] }>(`plan-${++runs}`, command);
    await run(`set local plan_cache_mode = ${mode}`);
    await run(`prepare measured as ${text}`);
    const [row] = await run(`explain (analyze, format json) execute measured (${values.map(toLiteral).join(", ")})`);
    await run("deallocate measured");
    nodes = row ? flatten(row["QUERY PLAN"][0].Plan) : [];
    throw undone;
  });
  await work.catch((error: unknown) => {
    if (error !== undone) throw error;
  });
  return nodes;
}

function indexesOf(nodes: readonly Node[]): readonly string[] {
  expect(nodes.map((node) => node["Node Type"])).not.toContain("Seq Scan");
  return nodes.flatMap((node) => node["Index Name"] ?? []).toSorted();
}

function flatten(node: Node): readonly Node[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

function toLiteral(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value)
    ? `'{${value.map((item) => item ?? "null").join(",")}}'`
    : `'${value as string | number}'`;
}

let runs = 0;

/** Records the store's statements and forwards them. */
function recorder(): Database {
  const recording = (to: () => Queryable): Queryable => ({
    rows: (name, text, values = []) => {
      recorded.push({ name, text, values });
      return to().rows(name, text, values);
    },
  });
  return {
    ...recording(() => database.database),
    transaction: (work) => database.database.transaction((inner) => work(recording(() => inner))),
    isReachable: () => database.database.isReachable(),
    close: () => database.close(),
  };
}
