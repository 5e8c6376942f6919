// Compares the database with the orders that the service confirmed.
import type { PlatformPostgres } from "../platform/postgres.ts";

/** An order as it was requested, or as it is stored. */
export interface AuditedOrder {
  readonly id: string;
  readonly customerId: string;
  readonly lines: readonly { readonly sku: string; readonly qty: number }[];
}

/** $1 is the initial stock of each product. */
const selectWrongStock = `select p.sku from products p left join order_lines l on l.sku = p.sku
  group by p.sku having p.stock <> $1 - coalesce(sum(l.quantity), 0)`;

const selectWrongRecords = `select 1 from idempotency_keys r full join orders o on o.id = r.entity_id and o.customer_id = r.caller_id
  where o.id is null or r.entity_id is null`;

/** Compares the database with the orders that the service confirmed to clients. Call it when no order is in flight. */
export async function auditOrders(
  postgres: PlatformPostgres,
  confirmed: readonly AuditedOrder[],
  initialStock: number,
) {
  const stored = await postgres.query<AuditedOrder>(
    "orders",
    `select o.id, o.customer_id as "customerId", json_agg(json_build_object('sku', l.sku, 'qty', l.quantity) order by l.sku) as lines
      from orders o left join order_lines l on l.order_id = o.id group by o.id`,
  );
  const storedById = new Map(stored.map((order) => [order.id, order]));
  const confirmedIds = new Set(confirmed.map(({ id }) => id));
  const confirmedAndStored = confirmed.filter(({ id }) => storedById.has(id));
  const neverConfirmed = stored.filter(({ id }) => !confirmedIds.has(id));
  const confirmedAgain = confirmed.length - confirmedIds.size;
  const changed = confirmedAndStored.filter((order) => describe(order) !== describe(storedById.get(order.id)));
  return {
    confirmed: confirmed.length,
    /** Confirmed orders that the database does not contain. */
    lost: confirmed.length - confirmedAndStored.length,
    /** Orders in the database that were never confirmed to a client, and orders that were confirmed more than once. */
    duplicated: neverConfirmed.length + confirmedAgain,
    /** Confirmed orders whose stored customer or lines differ from the request. */
    changed: changed.length,
    /** Products whose stock differs from the initial stock minus the ordered quantities. */
    stockWrong: await countRows(postgres, selectWrongStock, [initialStock]),
    /** Idempotency records without an order of the same customer, and orders without a record. */
    recordsWrong: await countRows(postgres, selectWrongRecords),
  };
}

async function countRows(postgres: PlatformPostgres, sql: string, values: readonly unknown[] = []): Promise<number> {
  const rows = await postgres.query("orders", sql, values);
  return rows.length;
}

function describe(order: AuditedOrder | undefined): string {
  const lines = order?.lines.map(({ sku, qty }) => `${sku} ${qty}`).toSorted();
  return JSON.stringify([order?.customerId, lines]);
}
