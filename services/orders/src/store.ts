import { AppError } from "@tributary/kit/errors/app-error";
import type { RowVersion } from "@tributary/kit/http/etag";
import { isRowId } from "@tributary/kit/postgres/row-id";
import { keyset, type Page, type PageRequest, toPage } from "@tributary/kit/lists/keyset";
import { toIdOrder } from "@tributary/kit/lists/list-order";
import type { Database, Queryable } from "@tributary/kit/postgres/postgres";
import { fingerprintOf, lockNumberOf, readSnapshot, type Snapshot } from "./idempotency.ts";
import {
  idempotencyHours,
  isOrderId,
  isSku,
  type ListPart,
  type NewLine,
  type NewOrder,
  type Order,
  type OrderFilters,
  type OrderLine,
  type OrderState,
  type OrderStatus,
  type PlacedOrder,
  type Product,
} from "./model.ts";
import { type PricedOrder, priceOrder } from "./pricing.ts";

export type OrderStore = ReturnType<typeof createOrderStore>;

/** A placed order, and whether it was placed before: then it is as it was said then. */
interface Placed extends PlacedOrder {
  readonly replayed: boolean;
}

const orderColumns = `o.id, o.customer_id as "customerId", o.status, o.total_minor as "totalMinor", o.currency,
  o.placed_at as "placedAt", o.row_version as "rowVersion"`;

const productColumns = `p.sku, p.title, p.price_minor as "priceMinor", p.currency, p.stock, p.post_id as "postId",
  p.row_version as "rowVersion"`;

const orderVersionColumns = `o.id, o.row_version as "rowVersion"`;

const productVersionColumns = `p.sku as id, p.row_version as "rowVersion"`;

/** Expired records that go with each one that comes: more than one, so that they become fewer. */
const expiredRecordsMax = 10;

/**
 * The only SQL about orders and products. Ids and skus that cannot exist find nothing. Rows are locked in one order, the order's row
 * first, then products by sku, so that no two transactions wait for each other.
 */
export function createOrderStore(database: Database) {
  return { ...createProductReads(database), ...createOrderReads(database), ...createOrderWrites(database) };
}

function createProductReads(database: Queryable) {
  return {
    async findProducts(skus: readonly string[]): Promise<readonly Product[]> {
      const possible = skus.filter(isSku);
      if (possible.length === 0) return [];
      const text = `select ${productColumns} from products p where p.sku = any($1::text[])`;
      return database.rows<Product>("find-products", text, [possible]);
    },

    /** The versions of those that there are; the id is the sku. */
    async findProductVersions(skus: readonly string[]): Promise<readonly RowVersion[]> {
      const possible = skus.filter(isSku);
      if (possible.length === 0) return [];
      const text = `select ${productVersionColumns} from products p where p.sku = any($1::text[])`;
      return database.rows<RowVersion>("find-product-versions", text, [possible]);
    },

    listProducts: (request: PageRequest) => list<Product>("products", productColumns, request),

    /** The rows that `listProducts` would find, by their versions alone. */
    listProductVersions: (request: PageRequest) => list<RowVersion>("product-versions", productVersionColumns, request),
  };

  async function list<Row>(what: string, shown: string, request: PageRequest): Promise<Page<Row>> {
    const set = keyset("p.sku", "$1::text", request, "ascending");
    const text = `select ${shown} from products p where ${set.where} order by ${set.orderBy} limit $2`;
    return toPage(await database.rows<Row>(`list-${what}-${set.direction}`, text, [set.id, set.limit]), request);
  }
}

function createOrderReads(database: Queryable) {
  return {
    async findOrders(ids: readonly string[]): Promise<readonly Order[]> {
      const possible = ids.filter(isOrderId);
      if (possible.length === 0) return [];
      const text = `select ${orderColumns} from orders o where o.id = any($1::uuid[])`;
      return database.rows<Order>("find-orders", text, [possible]);
    },

    /** By order, then by sku. */
    async findLines(orderIds: readonly string[]): Promise<readonly OrderLine[]> {
      if (orderIds.length === 0) return [];
      const text = `select l.order_id as "orderId", l.sku, l.quantity, l.unit_price_minor as "unitPriceMinor", o.currency
        from order_lines l join orders o on o.id = l.order_id where l.order_id = any($1::uuid[]) order by l.order_id, l.sku`;
      return database.rows<OrderLine>("find-lines", text, [orderIds]);
    },

    /** As little of an order as answers whether it has changed. */
    async findOrderState(id: string): Promise<OrderState | undefined> {
      if (!isOrderId(id)) return undefined;
      const text = `select ${orderVersionColumns}, o.customer_id as "customerId" from orders o where o.id = $1`;
      const [state] = await database.rows<OrderState>("find-order-state", text, [id]);
      return state;
    },

    listOrders: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      list<Order>("orders", orderColumns, { customerId, ...filters }, request),

    /** The rows that `listOrders` would find, by their versions alone. */
    listOrderVersions: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      list<RowVersion>("order-versions", orderVersionColumns, { customerId, ...filters }, request),

    /** Parts of many customers' lists, newest first, in one statement; each in the place of its request. */
    async listParts(parts: readonly ListPart[]): Promise<readonly (readonly Order[])[]> {
      const asked = parts.flatMap((part, place) => (isPossible(part) ? [{ ...part, place }] : []));
      const found: Order[][] = parts.map(() => []);
      if (asked.length === 0) return found;
      const values = [
        asked.map(({ place }) => place),
        asked.map(({ customerId }) => customerId),
        asked.map(({ after }) => after ?? null),
        asked.map(({ limit }) => limit),
      ];
      const rows = await database.rows<Order & { place: number }>("list-parts", partsText, values);
      for (const { place, ...order } of rows) found[place]?.push(order);
      return found;
    },
  };

  async function list<Row>(
    what: string,
    shown: string,
    { customerId, status, sort }: OrderFilters & { readonly customerId: string },
    request: PageRequest,
  ): Promise<Page<Row>> {
    if (!isRowId(customerId)) return { items: [], hasNext: false, hasPrev: false };
    const set = keyset("o.id", "$1::uuid", request, toIdOrder(sort));
    const wheres = ["o.customer_id = $3", set.where];
    const values: unknown[] = [set.id, set.limit, customerId];
    if (status !== undefined) wheres.push(`o.status = $${values.push(status)}`);
    const name = [`list-${what}`, set.direction, status && "status", sort].filter(Boolean).join("-");
    const text = `select ${shown} from orders o where ${wheres.join(" and ")} order by ${set.orderBy} limit $2`;
    return toPage(await database.rows<Row>(name, text, values), request);
  }
}

const largestUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** For each part its own walk down the index orders_by_customer, at most `length` rows long; `place` says whose row it is. */
const partsText = `select part.place, list.*
  from unnest($1::int[], $2::bigint[], $3::uuid[], $4::int[]) as part (place, customer_id, after_id, length)
  cross join lateral (
    select ${orderColumns} from orders o
    where o.customer_id = part.customer_id and o.id < coalesce(part.after_id, '${largestUuid}')
    order by o.id desc limit part.length
  ) as list
  order by part.place, list.id desc`;

function isPossible({ customerId, after }: ListPart): boolean {
  return isRowId(customerId) && (after === undefined || isOrderId(after));
}

function createOrderWrites(database: Database) {
  return {
    /**
     * One transaction: the key's record, prices and stock, the order with its lines. With a key that has placed an order in the last
     * 24 hours, that order as it was said then.
     * @throws AppError BAD_USER_INPUT, OUT_OF_STOCK, IDEMPOTENCY_KEY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED; then nothing has changed.
     */
    placeOrder(customerId: string, { lines, idempotencyKey: key }: NewOrder): Promise<Placed> {
      return database.transaction(async (transaction) => {
        if (key === undefined) return { ...(await insertOrder(transaction, customerId, lines)), replayed: false };
        await lockKey(transaction, customerId, key);
        const fingerprint = fingerprintOf(lines);
        const before = await findPlaced(transaction, customerId, key, fingerprint);
        if (before) return { ...before, replayed: true };
        const placed = await insertOrder(transaction, customerId, lines);
        await insertRecord(transaction, { customerId, key, fingerprint, placed });
        return { ...placed, replayed: false };
      });
    },

    /**
     * Moves an order to a status, if `check` lets it; one that is cancelled gives its products back.
     * @param check is given the order as it is under lock, and throws what it refuses with.
     * @returns undefined when there is no such order.
     */
    async moveOrder(id: string, to: OrderStatus, check: (order: Order) => void): Promise<Order | undefined> {
      if (!isOrderId(id)) return undefined;
      return database.transaction(async (transaction) => {
        const lock = `select ${orderColumns} from orders o where o.id = $1 for no key update`;
        const [order] = await transaction.rows<Order>("lock-order", lock, [id]);
        if (order === undefined) return undefined;
        check(order);
        if (to === "CANCELLED") await giveBack(transaction, id);
        const text = `update orders o set status = $2 where o.id = $1 returning ${orderColumns}`;
        const [moved] = await transaction.rows<Order>("move-order", text, [id, to]);
        return moved;
      });
    },
  };
}

/** @throws AppError IDEMPOTENCY_KEY_IN_FLIGHT while another transaction is at work on this key. */
async function lockKey(transaction: Queryable, customerId: string, key: string): Promise<void> {
  const text = "select pg_try_advisory_xact_lock($1::bigint) as locked";
  const [row] = await transaction.rows<{ locked: boolean }>("lock-key", text, [lockNumberOf(customerId, key)]);
  if (row?.locked) return;
  throw new AppError("IDEMPOTENCY_KEY_IN_FLIGHT", "A request with this key is under way. Send it again in a moment.", {
    retryAfterSeconds: 1,
  });
}

/**
 * A statement of its own, after the lock: only then does it see what whoever held the lock before has committed.
 * @throws AppError IDEMPOTENCY_KEY_REUSED.
 */
async function findPlaced(
  transaction: Queryable,
  customerId: string,
  key: string,
  fingerprint: Buffer,
): Promise<PlacedOrder | undefined> {
  const text = `select fingerprint, snapshot from idempotency_records
    where customer_id = $1 and key = $2 and created_at > now() - make_interval(hours => $3)`;
  const values = [customerId, key, idempotencyHours];
  const [record] = await transaction.rows<{ fingerprint: Buffer; snapshot: Snapshot }>("find-record", text, values);
  if (record === undefined) return undefined;
  if (fingerprint.equals(record.fingerprint)) return readSnapshot(record.snapshot);
  throw new AppError("IDEMPOTENCY_KEY_REUSED", "This key has placed an order of other lines. Take a new one.");
}

async function insertOrder(
  transaction: Queryable,
  customerId: string,
  newLines: readonly NewLine[],
): Promise<PlacedOrder> {
  const skus = newLines.map(({ sku }) => sku).filter(isSku);
  const lock = `select ${productColumns} from products p where p.sku = any($1::text[]) order by p.sku for no key update`;
  const priced = priceOrder(newLines, await transaction.rows<Product>("lock-products", lock, [skus]));
  const products = await takeStock(transaction, priced);
  const insert = `insert into orders as o (customer_id, total_minor, currency) values ($1, $2, $3) returning ${orderColumns}`;
  const values = [customerId, priced.totalMinor, priced.currency];
  const [order] = await transaction.rows<Order>("insert-order", insert, values);
  if (order === undefined) throw new Error("insert-order returned no row");
  const insertLines = `insert into order_lines (order_id, sku, quantity, unit_price_minor)
    select $1, line.* from unnest($2::text[], $3::int[], $4::int[]) as line (sku, quantity, unit_price_minor)`;
  await transaction.rows("insert-lines", insertLines, [order.id, ...columnsOf(priced)]);
  const { id: orderId, currency } = order;
  const lines = priced.lines.map(({ sku, quantity, unitPriceMinor }) => ({
    orderId,
    sku,
    quantity,
    unitPriceMinor,
    currency,
  }));
  return { order, lines, products };
}

/** The rows are locked, so a line that finds too few in stock is a bug; then nothing is placed. @returns the products after it. */
async function takeStock(transaction: Queryable, priced: PricedOrder): Promise<readonly Product[]> {
  const text = `update products p set stock = p.stock - line.quantity
    from unnest($1::text[], $2::int[]) as line (sku, quantity)
    where p.sku = line.sku and p.stock >= line.quantity returning ${productColumns}`;
  const [skus, quantities] = columnsOf(priced);
  const products = await transaction.rows<Product>("take-stock", text, [skus, quantities]);
  if (products.length === priced.lines.length) return products;
  throw new Error(`take-stock changed ${products.length} of ${priced.lines.length} products`);
}

async function giveBack(transaction: Queryable, orderId: string): Promise<void> {
  const lock = `select p.sku from products p where p.sku in (select sku from order_lines where order_id = $1)
    order by p.sku for no key update`;
  await transaction.rows("lock-products-of-order", lock, [orderId]);
  const text = `update products p set stock = p.stock + line.quantity from order_lines line
    where line.order_id = $1 and p.sku = line.sku`;
  await transaction.rows("give-back", text, [orderId]);
}

interface NewRecord {
  readonly customerId: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  readonly placed: PlacedOrder;
}

/** Writes the key's record, over one that has expired, and then removes a few others that have. */
async function insertRecord(
  transaction: Queryable,
  { customerId, key, fingerprint, placed }: NewRecord,
): Promise<void> {
  const text = `insert into idempotency_records (customer_id, key, fingerprint, order_id, snapshot)
    values ($1, $2, $3, $4, $5) on conflict (customer_id, key) do update set fingerprint = excluded.fingerprint,
    order_id = excluded.order_id, snapshot = excluded.snapshot, created_at = excluded.created_at`;
  const values = [customerId, key, fingerprint, placed.order.id, JSON.stringify(placed)];
  await transaction.rows("insert-record", text, values);
  // Last, and never waiting: whoever is at work on one of them keeps it.
  const expired = `delete from idempotency_records where ctid = any (array(
    select ctid from idempotency_records where created_at <= now() - make_interval(hours => $1)
    order by created_at limit $2 for update skip locked))`;
  await transaction.rows("delete-expired-records", expired, [idempotencyHours, expiredRecordsMax]);
}

/** The lines by column, for `unnest`. */
function columnsOf({ lines }: PricedOrder): readonly [readonly string[], readonly number[], readonly number[]] {
  const prices = lines.map(({ unitPriceMinor }) => unitPriceMinor);
  return [lines.map(({ sku }) => sku), lines.map(({ quantity }) => quantity), prices];
}
