import type { Confirmed, Line } from "./buyers.ts";
import type { Cluster } from "./cluster.ts";

export interface Audit {
  readonly confirmed: number;
  /** Confirmed orders that are not in the database. */
  readonly lost: number;
  /** Orders in the database that nobody was told of, though everybody was told of all they wanted; and confirmed ones that two were told of. */
  readonly doubled: number;
  /** Confirmed orders that are not what was ordered. */
  readonly changed: number;
  /** Products whose stock is not what it was less what was ordered. */
  readonly stockWrong: number;
  /** Records of keys that belong to no order, or to one of somebody else; and orders without a record. */
  readonly recordsWrong: number;
}

interface StoredOrder {
  readonly id: string;
  readonly customerId: string;
  readonly lines: readonly Line[];
}

/** Holds the database against what the buyers were told. Nobody may be at work on it. */
export async function auditOrders(
  cluster: Cluster,
  confirmed: readonly Confirmed[],
  stockAtFirst: number,
): Promise<Audit> {
  const stored = await cluster.query<StoredOrder>(
    `select o.id, o.customer_id as "customerId", json_agg(json_build_object('sku', l.sku, 'qty', l.quantity) order by l.sku) as lines
      from orders o left join order_lines l on l.order_id = o.id group by o.id`,
  );
  const byId = new Map(stored.map((order) => [order.id, order]));
  const told = new Set(confirmed.map(({ id }) => id));
  const found = confirmed.filter(({ id }) => byId.has(id));
  return {
    confirmed: confirmed.length,
    lost: confirmed.length - found.length,
    doubled: stored.filter(({ id }) => !told.has(id)).length + (confirmed.length - told.size),
    changed: found.filter((order) => describe(order) !== describe(byId.get(order.id))).length,
    stockWrong: await countRows(cluster, wrongStock, [stockAtFirst]),
    recordsWrong: await countRows(cluster, wrongRecords),
  };
}

const wrongStock = `select p.sku from products p left join order_lines l on l.sku = p.sku
  group by p.sku having p.stock <> $1 - coalesce(sum(l.quantity), 0)`;

const wrongRecords = `select 1 from idempotency_records r full join orders o on o.id = r.order_id and o.customer_id = r.customer_id
  where o.id is null or r.order_id is null`;

async function countRows(cluster: Cluster, text: string, values: readonly unknown[] = []): Promise<number> {
  return (await cluster.query(text, values)).length;
}

function describe(order: StoredOrder | undefined): string {
  const lines = order?.lines.map(({ sku, qty }) => `${sku} ${qty}`).toSorted();
  return JSON.stringify([order?.customerId, lines]);
}
