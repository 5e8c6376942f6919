import { AppError } from "@tributary/kit/errors/app-error";
import { idempotencyKeyInput } from "@tributary/kit/idempotency/idempotency-key";
import { listOrder, type ListOrder, optionalFilter } from "@tributary/kit/lists/list-order";
import { parseShape } from "@tributary/kit/errors/validate";
import { z } from "zod";

export const orderStatuses = ["PLACED", "PAID", "SHIPPED", "DELIVERED", "CANCELLED"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export interface Product {
  readonly sku: string;
  readonly title: string;
  readonly priceMinor: number;
  readonly currency: string;
  readonly stock: number;
  /** The post that this product is a print edition of. */
  readonly postId: string | null;
  readonly rowVersion: string;
}

/** The fields that decide who may read an order, and what its ETag is. */
export interface OrderState {
  readonly customerId: string;
  readonly rowVersion: string;
}

export interface Order extends OrderState {
  /** A UUIDv7. */
  readonly id: string;
  readonly status: OrderStatus;
  readonly totalMinor: number;
  readonly currency: string;
  readonly placedAt: Date;
}

export interface OrderLine {
  readonly orderId: string;
  readonly sku: string;
  readonly quantity: number;
  /** The price of one piece at the time of the order, in the order's currency. */
  readonly unitPriceMinor: number;
  readonly currency: string;
}

export interface Reference {
  readonly id: string;
}

/** A placed order with its lines, sorted by sku, and its products with the stock that remained right after the order was placed. */
export interface PlacedOrder {
  readonly order: Order;
  readonly lines: readonly OrderLine[];
  readonly products: readonly Product[];
}

export interface OrderFilters {
  readonly status?: OrderStatus | undefined;
  readonly sort?: ListOrder;
}

/** The first `limit` orders of one customer after an order id, newest first. */
export interface CustomerPageRequest {
  readonly customerId: string;
  /** 1 to 100. */
  readonly limit: number;
  /** The id of the last order of the previous page; undefined for the first page. After a malformed id the page is empty. */
  readonly after?: string | undefined;
}

/** The status that follows each status; a status without an entry is final. */
const nextStatus: Partial<Readonly<Record<OrderStatus, OrderStatus>>> = {
  PLACED: "PAID",
  PAID: "SHIPPED",
  SHIPPED: "DELIVERED",
};

/** @throws AppError NOT_FOUND. */
export function requireFound<T>(row: T | undefined, kind: "order" | "product"): T {
  if (row !== undefined) return row;
  throw new AppError("NOT_FOUND", `There is no such ${kind}.`);
}

/** Requires that `to` is the next status after `from`. @throws AppError INVALID_STATE. */
export function requireAdvance(from: OrderStatus, to: OrderStatus): void {
  const next = nextStatus[from];
  if (next === to) return;
  const rule = next === undefined ? "cannot advance" : `can only advance to ${next}`;
  throw new AppError("INVALID_STATE", `An order that is ${from} ${rule}, not to ${to}.`);
}

/** @throws AppError INVALID_STATE. */
export function requireCancellable(from: OrderStatus): void {
  if (from === "PLACED" || from === "PAID") return;
  throw new AppError("INVALID_STATE", `An order that is ${from} cannot be cancelled.`);
}

/** A UUIDv7 in lower case (RFC 9562, 5.7). */
const orderIdPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const skuPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether a string is a well-formed order id. The order may not exist. */
export function isOrderId(text: string): boolean {
  return orderIdPattern.test(text);
}

/** Whether a string is a well-formed sku. The product may not exist. */
export function isSku(text: string): boolean {
  return skuPattern.test(text);
}

const linesMax = 50;
const quantityMax = 99;

export interface NewLine {
  readonly sku: string;
  readonly quantity: number;
}

export interface NewOrder {
  /** In the order of the request, because problems point to their positions. */
  readonly lines: readonly NewLine[];
  /** Without a key a repeated request orders again. */
  readonly idempotencyKey?: string | undefined;
}

/** Accepts malformed skus: `priceOrder` reports them as unknown products. */
export const sku = z.string("A sku is a string.");

const quantityRule = `A quantity is a whole number from 1 to ${quantityMax}.`;
export const quantity = z
  .number(quantityRule)
  .refine((value) => Number.isInteger(value) && value >= 1 && value <= quantityMax, {
    error: quantityRule,
    params: { code: "range" },
  });

const lineCountRule = `An order has 1 to ${linesMax} lines.`;

/**
 * A schema for the lines of an order; `line` has the field names of GraphQL or of one REST version. Two lines with one sku are rejected.
 */
export function linesOf<Line extends z.ZodType<{ readonly sku: string }>>(line: Line) {
  return z
    .array(line, "Lines are a list.")
    .min(1, lineCountRule)
    .max(linesMax, lineCountRule)
    .superRefine(rejectDuplicateSkus, {
      // Without `when`, Zod skips this check if there are other problems. All problems are reported together.
      when: ({ value }) => Array.isArray(value),
    });
}

/** @param lines may be invalid, because `when` runs this check also if there are other problems. */
function rejectDuplicateSkus(lines: readonly unknown[], context: z.RefinementCtx): void {
  const seenSkus = new Set<string>();
  for (const [index, line] of lines.entries()) {
    const lineSku = skuOf(line);
    if (lineSku === undefined) continue;
    if (seenSkus.has(lineSku)) {
      const message = "This product has a line already.";
      context.addIssue({ code: "custom", path: [index, "sku"], params: { code: "duplicate" }, message });
    }
    seenSkus.add(lineSku);
  }
}

/** Undefined for an invalid line without a string as its sku. */
function skuOf(line: unknown): string | undefined {
  if (typeof line !== "object" || line === null || !("sku" in line)) return undefined;
  return typeof line.sku === "string" ? line.sku : undefined;
}

const newOrder = z.strictObject({
  lines: linesOf(z.strictObject({ sku, quantity })),
  idempotencyKey: idempotencyKeyInput,
});

const cancellation = z.object({ idempotencyKey: idempotencyKeyInput });

const filters = z.strictObject({
  status: optionalFilter(z.enum(orderStatuses, `A status is one of ${orderStatuses.join(", ")}.`)),
  sort: listOrder,
});

/** Reads the input of GraphQL's `placeOrder`; rest/read.ts reads that of REST. @throws AppError BAD_USER_INPUT with every problem. */
export const readNewOrder = (input: unknown): NewOrder => parseShape(newOrder, input);
/** Reads that of GraphQL's `cancelOrder`. @throws AppError BAD_USER_INPUT. */
export const readCancellationKey = (input: unknown): string | undefined =>
  parseShape(cancellation, input).idempotencyKey;
/** @throws AppError BAD_USER_INPUT with every problem. */
export const readOrderFilters = (input: unknown): OrderFilters => parseShape(filters, input);
