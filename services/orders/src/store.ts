import type { RowVersion } from "@tributary/kit/http/etag";
import { type IdempotentResult, type Stored, writeOnce } from "@tributary/kit/idempotency/idempotency";
import type { CallerKey } from "@tributary/kit/idempotency/idempotency-records";
import { isRowId } from "@tributary/kit/postgres/row-id";
import { createKeyset, type ListPage, type PageRequest, toPage } from "@tributary/kit/lists/keyset";
import { toIdOrder } from "@tributary/kit/lists/list-order";
import { defineColumns, type SelectList } from "@tributary/kit/postgres/columns";
import type { Database, Queryable, Writer } from "@tributary/kit/postgres/postgres";
import {
  isOrderId,
  isSku,
  type CustomerPageRequest,
  type NewLine,
  type NewOrder,
  type Order,
  type OrderFilters,
  type OrderLine,
  type OrderState,
  type OrderStatus,
  type PlacedOrder,
  type Product,
  requireFound,
} from "./model.ts";
import { type PricedOrder, priceOrder } from "./pricing.ts";

export type OrderStore = ReturnType<typeof createOrderStore>;

/** In the statements, `o` is the table orders, `p` is products and `l` is order_lines. */
const orderTable = defineColumns<Order>()({
  id: "id",
  customerId: "customer_id",
  status: "status",
  totalMinor: "total_minor",
  currency: "currency",
  placedAt: "placed_at",
  rowVersion: "row_version",
});
const productTable = defineColumns<Product>()({
  sku: "sku",
  title: "title",
  priceMinor: "price_minor",
  currency: "currency",
  stock: "stock",
  postId: "post_id",
  rowVersion: "row_version",
});
const lineColumns = defineColumns<OrderLine>()({
  orderId: "l.order_id",
  sku: "l.sku",
  quantity: "l.quantity",
  unitPriceMinor: "l.unit_price_minor",
  currency: "o.currency",
}).all();

const orderColumns = orderTable.all("o.");
const orderStateColumns: SelectList<OrderState> = orderTable.only(["id", "rowVersion", "customerId"], "o.");
const orderVersionColumns: SelectList<RowVersion> = orderTable.only(["id", "rowVersion"], "o.");
const productColumns = productTable.all("p.");
const productVersionColumns = defineColumns<RowVersion>()({ id: "sku", rowVersion: "row_version" }).all("p.");

type InsertedOrder = Pick<Order, "customerId" | "totalMinor" | "currency">;

const orderInsertion = orderTable.insertion<InsertedOrder>()(["customerId", "totalMinor", "currency"]);

/**
 * All SQL of the orders service. A malformed id or sku matches no row (except in `findLines`). Every transaction locks rows in the same
 * sequence, the order first, then products by sku, so that transactions cannot deadlock. One statement of each transaction is a `write`,
 * which reads the position for the client's receipt; the others use `rows`. Checks no permissions.
 */
export function createOrderStore(database: Database) {
  return { ...createProductReads(database), ...createOrderReads(database), ...createOrderWrites(database) };
}

function createProductReads(database: Queryable) {
  return {
    async findProducts(skus: readonly string[]): Promise<readonly Product[]> {
      const validSkus = skus.filter(isSku);
      if (validSkus.length === 0) return [];
      const text = `select ${productColumns} from products p where p.sku = any($1::text[])`;
      return database.rows<Product>("find-products", text, [validSkus]);
    },

    /** The versions of the existing products; `id` is the sku. */
    async findProductVersions(skus: readonly string[]): Promise<readonly RowVersion[]> {
      const validSkus = skus.filter(isSku);
      if (validSkus.length === 0) return [];
      const text = `select ${productVersionColumns} from products p where p.sku = any($1::text[])`;
      return database.rows<RowVersion>("find-product-versions", text, [validSkus]);
    },

    listProducts: (request: PageRequest) => list("products", productColumns, request),

    /** The skus and versions of the rows that `listProducts` returns. */
    listProductVersions: (request: PageRequest) => list("product-versions", productVersionColumns, request),
  };

  async function list<Row>(rowsName: string, selected: SelectList<Row>, request: PageRequest): Promise<ListPage<Row>> {
    const keyset = createKeyset("p.sku", "$1::text", request, "ascending");
    const text = `select ${selected} from products p where ${keyset.where} order by ${keyset.orderBy} limit $2`;
    const name = `list-${rowsName}-${keyset.direction}`;
    return toPage(await database.rows<Row>(name, text, [keyset.id, keyset.limit]), request);
  }
}

const largestUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** One scan of the index orders_by_customer per page, limited to `length` rows; `index` is the position of the page in the result. */
const customerPagesSql = `select page.index, list.*
  from unnest($1::int[], $2::bigint[], $3::uuid[], $4::int[]) as page (index, customer_id, after_id, length)
  cross join lateral (
    select ${orderColumns} from orders o
    where o.customer_id = page.customer_id and o.id < coalesce(page.after_id, '${largestUuid}')
    order by o.id desc limit page.length
  ) as list
  order by page.index, list.id desc`;

function createOrderReads(database: Queryable) {
  return {
    async findOrders(ids: readonly string[]): Promise<readonly Order[]> {
      const validIds = ids.filter(isOrderId);
      if (validIds.length === 0) return [];
      const text = `select ${orderColumns} from orders o where o.id = any($1::uuid[])`;
      return database.rows<Order>("find-orders", text, [validIds]);
    },

    /** Sorted by order, then by sku. `orderIds` must be well-formed: they come from loaded orders. */
    async findLines(orderIds: readonly string[]): Promise<readonly OrderLine[]> {
      if (orderIds.length === 0) return [];
      const text = `select ${lineColumns}
        from order_lines l join orders o on o.id = l.order_id where l.order_id = any($1::uuid[]) order by l.order_id, l.sku`;
      return database.rows<OrderLine>("find-lines", text, [orderIds]);
    },

    /** The columns that an order's readers and its ETag depend on. */
    async findOrderState(id: string): Promise<OrderState | undefined> {
      if (!isOrderId(id)) return undefined;
      const text = `select ${orderStateColumns} from orders o where o.id = $1`;
      const [state] = await database.rows<OrderState>("find-order-state", text, [id]);
      return state;
    },

    listOrders: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      list("orders", orderColumns, { customerId, ...filters }, request),

    listOrderVersions: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      list("order-versions", orderVersionColumns, { customerId, ...filters }, request),

    /** One page of each customer's list, newest first, in one statement; the result has one page per request, in the same sequence. */
    async listPagesOfCustomers(requests: readonly CustomerPageRequest[]): Promise<readonly (readonly Order[])[]> {
      const pages: Order[][] = requests.map(() => []);
      const valid = requests.map((page, index) => ({ ...page, index })).filter(hasValidIds);
      if (valid.length === 0) return pages;
      const values = [
        valid.map(({ index }) => index),
        valid.map(({ customerId }) => customerId),
        valid.map(({ after }) => after ?? null),
        valid.map(({ limit }) => limit),
      ];
      const rows = await database.rows<Order & { index: number }>("list-parts", customerPagesSql, values);
      for (const { index, ...order } of rows) pages[index]?.push(order);
      return pages;
    },
  };

  async function list<Row>(
    rowsName: string,
    selected: SelectList<Row>,
    { customerId, status, sort }: OrderFilters & { readonly customerId: string },
    request: PageRequest,
  ): Promise<ListPage<Row>> {
    if (!isRowId(customerId)) return { items: [], hasNext: false, hasPrev: false };
    const keyset = createKeyset("o.id", "$1::uuid", request, toIdOrder(sort));
    const wheres = ["o.customer_id = $3", keyset.where];
    const values: unknown[] = [keyset.id, keyset.limit, customerId];
    // A statement is prepared once by its name.
    const nameParts = ["list", rowsName, keyset.direction];
    if (status !== undefined) {
      wheres.push(`o.status = $${values.push(status)}`);
      nameParts.push("status");
    }
    if (sort !== undefined) nameParts.push(sort);
    const text = `select ${selected} from orders o where ${wheres.join(" and ")} order by ${keyset.orderBy} limit $2`;
    return toPage(await database.rows<Row>(nameParts.join("-"), text, values), request);
  }
}

function hasValidIds({ customerId, after }: CustomerPageRequest): boolean {
  return isRowId(customerId) && (after === undefined || isOrderId(after));
}

function createOrderWrites(database: Database) {
  return {
    /**
     * Places an order in one transaction: prices, stock, the order with its lines, and the record of the idempotency key. If the key has
     * placed an order in the last 24 hours, returns the stored result instead.
     * @throws AppError BAD_USER_INPUT, OUT_OF_STOCK, IDEMPOTENCY_KEY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED; the transaction is rolled back.
     */
    async placeOrder(
      customerId: string,
      { lines, idempotencyKey: key }: NewOrder,
    ): Promise<IdempotentResult<PlacedOrder>> {
      const run = (transaction: Writer) => insertOrder(transaction, customerId, lines);
      if (key === undefined) return { result: await database.transaction(run), replayed: false };
      return writeOnce(database, {
        callerId: customerId,
        key,
        input: toComparableLines(lines),
        run,
        entityIdOf: ({ order }) => order.id,
        restore: restorePlacedOrder,
      });
    },

    /**
     * Changes the status of an order. A cancellation returns its products to stock. If the key has made this change in the last 24 hours,
     * returns the stored order instead.
     * @param check called synchronously with the locked order, before the change; throws to reject it.
     * @throws AppError NOT_FOUND, those of `check`, IDEMPOTENCY_KEY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED; the transaction is rolled back.
     */
    async changeStatus(
      id: string,
      to: OrderStatus,
      check: (order: Order) => void,
      callerKey?: CallerKey,
    ): Promise<IdempotentResult<Order>> {
      requireFound(isOrderId(id) ? id : undefined, "order");
      const run = (transaction: Writer) => moveOrder(transaction, id, to, check);
      if (callerKey === undefined) return { result: await database.transaction(run), replayed: false };
      const input = { id, to };
      return writeOnce(database, { ...callerKey, input, run, entityIdOf: (order) => order.id, restore: restoreOrder });
    },
  };
}

async function moveOrder(
  transaction: Writer,
  id: string,
  to: OrderStatus,
  check: (order: Order) => void,
): Promise<Order> {
  const lockText = `select ${orderColumns} from orders o where o.id = $1 for no key update`;
  const [order] = await transaction.rows<Order>("lock-order", lockText, [id]);
  check(requireFound(order, "order"));
  if (to === "CANCELLED") await restoreStock(transaction, id);
  const updateText = `update orders o set status = $2 where o.id = $1 returning ${orderColumns}`;
  const [moved] = await transaction.write<Order>("move-order", updateText, [id, to]);
  return requireFound(moved, "order");
}

async function insertOrder(
  transaction: Writer,
  customerId: string,
  newLines: readonly NewLine[],
): Promise<PlacedOrder> {
  const priced = priceOrder(newLines, await lockProducts(transaction, newLines));
  const products = await takeStock(transaction, priced);
  const { totalMinor, currency } = priced;
  const text = `insert into orders as o ${orderInsertion.text} returning ${orderColumns}`;
  const values = orderInsertion.valuesOf({ customerId, totalMinor, currency });
  const [order] = await transaction.write<Order>("insert-order", text, values);
  if (order === undefined) throw new Error("insert-order returned no row");
  await insertLines(transaction, order.id, priced);
  const lines = priced.lines.map((line) => ({
    orderId: order.id,
    sku: line.sku,
    quantity: line.quantity,
    unitPriceMinor: line.unitPriceMinor,
    currency,
  }));
  return { order, lines, products };
}

/** The existing products of the lines. Their stock and prices remain until the transaction ends. */
function lockProducts(transaction: Queryable, lines: readonly NewLine[]): Promise<readonly Product[]> {
  const text = `select ${productColumns} from products p where p.sku = any($1::text[]) order by p.sku for no key update`;
  const skus = lines.map(({ sku }) => sku).filter(isSku);
  return transaction.rows<Product>("lock-products", text, [skus]);
}

async function insertLines(transaction: Queryable, orderId: string, priced: PricedOrder): Promise<void> {
  const text = `insert into order_lines (order_id, sku, quantity, unit_price_minor)
    select $1, line.* from unnest($2::text[], $3::int[], $4::int[]) as line (sku, quantity, unit_price_minor)`;
  const [skus, quantities, unitPrices] = columnsOf(priced);
  await transaction.rows("insert-lines", text, [orderId, skus, quantities, unitPrices]);
}

/** @returns the products with their new stock. @throws Error if the stock is too small: a bug, because the rows were locked and checked. */
async function takeStock(transaction: Queryable, priced: PricedOrder): Promise<readonly Product[]> {
  const text = `update products p set stock = p.stock - line.quantity
    from unnest($1::text[], $2::int[]) as line (sku, quantity)
    where p.sku = line.sku and p.stock >= line.quantity returning ${productColumns}`;
  const [skus, quantities] = columnsOf(priced);
  const products = await transaction.rows<Product>("take-stock", text, [skus, quantities]);
  if (products.length === priced.lines.length) return products;
  throw new Error(`take-stock changed ${products.length} of ${priced.lines.length} products`);
}

async function restoreStock(transaction: Queryable, orderId: string): Promise<void> {
  const lockText = `select p.sku from products p where p.sku in (select sku from order_lines where order_id = $1)
    order by p.sku for no key update`;
  await transaction.rows("lock-products-of-order", lockText, [orderId]);
  const updateText = `update products p set stock = p.stock + line.quantity from order_lines line
    where line.order_id = $1 and p.sku = line.sku`;
  await transaction.rows("give-back", updateText, [orderId]);
}

/**
 * The input that `writeOnce` compares: sku and quantity of each line, sorted by sku, so that the sequence in the request does not matter.
 */
function toComparableLines(lines: readonly NewLine[]): object {
  const pairs = lines.map(({ sku, quantity }) => [sku, quantity] as const);
  return pairs.sort(([skuA], [skuB]) => (skuA < skuB ? -1 : 1));
}

/** The placed order as it was stored with its idempotency key. */
function restorePlacedOrder({ order, lines, products }: Stored<PlacedOrder>): PlacedOrder {
  return { order: restoreOrder(order), lines, products };
}

function restoreOrder(order: Stored<Order>): Order {
  return { ...order, placedAt: new Date(order.placedAt) };
}

/** The lines by column, for `unnest`. */
function columnsOf({ lines }: PricedOrder): readonly [readonly string[], readonly number[], readonly number[]] {
  const skus = lines.map(({ sku }) => sku);
  const quantities = lines.map(({ quantity }) => quantity);
  const unitPrices = lines.map(({ unitPriceMinor }) => unitPriceMinor);
  return [skus, quantities, unitPrices];
}
