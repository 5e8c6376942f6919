import type { OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
import {
  anyIdInPath,
  bareList,
  opaqueId,
  pageFields,
  pageOf,
  shownText,
  sortField,
  timestamp,
  wholeNumber,
} from "@tributary/kit/openapi/schemas";
import { z } from "zod";
import { orderStatuses } from "../model.ts";
import type { routes } from "./routes.ts";

/** What one version has of its own. */
interface Words {
  readonly order: z.ZodType;
  readonly product: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newOrder: z.ZodType;
  readonly key: string;
  readonly keyExample: string;
  readonly lines: readonly object[];
  readonly placed: object;
  readonly print: object;
}

const amountMax = 2_147_483_647;

const sku = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
  .meta({ description: "The product's name in the catalogue.", examples: ["PRINT-0001"] });
const currency = z
  .string()
  .length(3)
  .regex(/^[A-Z]{3}$/)
  .meta({ description: "ISO 4217.", examples: ["EUR"] });
const decimal = z
  .string()
  .max(16)
  .regex(/^(?:0|[1-9]\d*)(?:\.\d{2,4})?$/)
  .meta({ description: "A decimal number with the currency's places.", examples: ["12.99"] });
const money = z
  .strictObject({
    amountMinor: wholeNumber(0, amountMax).meta({ description: "Whole minor units, such as cents." }),
    currency,
  })
  .meta({ id: "Money" });
const quantity = wholeNumber(1, 99).meta({ description: "How many of it." });
const status = z.enum(orderStatuses);
const orderId = z
  .string()
  .length(36)
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  .meta({ description: "The order's id.", format: "uuid", examples: ["019c4a5e-8c00-7c1d-9f3a-2b6d7e8f9a0b"] });

/** Two things that a schema cannot say are in words. */
const linesRule =
  "A product has one line. All products are sold in one currency, and the total is at most 2,147,483,647 minor units; else it is 422.";

const shownOrder = {
  id: orderId,
  customerId: opaqueId("The user who placed it.", "1"),
  status,
  placedAt: timestamp("When it was placed."),
};
const shownProduct = {
  sku,
  title: shownText(200, "A print"),
  stock: wholeNumber(0, amountMax).meta({ description: "How many there are." }),
  postId: opaqueId("The post whose print edition it is.", "1").nullable(),
};

const orderV1 = z
  .strictObject({
    ...shownOrder,
    total: decimal,
    currency,
    lines: z.array(z.strictObject({ sku, qty: quantity, unitPrice: decimal })).max(50),
  })
  .meta({ id: "Order" });
const orderV2 = z
  .strictObject({
    ...shownOrder,
    total: money,
    lines: z.array(z.strictObject({ sku, quantity, unitPrice: money })).max(50),
  })
  .meta({ id: "Order" });

const placed = {
  id: "019c4a5e-8c00-7c1d-9f3a-2b6d7e8f9a0b",
  customerId: "1",
  status: "PLACED",
  placedAt: "2026-11-21T09:30:00.000Z",
};
const print = { sku: "PRINT-0001", title: "A print", stock: 211, postId: "1" };

function newOrderOf(line: z.ZodType): z.ZodType {
  return z
    .strictObject({ lines: z.array(line).min(1).max(50).meta({ description: linesRule }) })
    .meta({ id: "NewOrder" });
}

const wordsV1: Words = {
  order: orderV1,
  product: z.strictObject({ ...shownProduct, price: decimal, currency }).meta({ id: "Product" }),
  list: bareList,
  newOrder: newOrderOf(z.strictObject({ sku, qty: quantity })),
  key: "An `Idempotency-Key` makes it safe to send again: the first answer is repeated for 24 hours.",
  keyExample: "7f8c2a1e-v1-first",
  lines: [{ sku: "PRINT-0001", qty: 2 }],
  placed: { ...placed, total: "83.98", currency: "EUR", lines: [{ sku: "PRINT-0001", qty: 2, unitPrice: "41.99" }] },
  print: { ...print, price: "41.99", currency: "EUR" },
};

const euros = (amountMinor: number) => ({ amountMinor, currency: "EUR" });

const wordsV2: Words = {
  order: orderV2,
  product: z.strictObject({ ...shownProduct, price: money }).meta({ id: "Product" }),
  list: pageOf,
  newOrder: newOrderOf(z.strictObject({ sku, quantity })),
  key: "The `Idempotency-Key` makes it safe to send again: the first answer is repeated for 24 hours.",
  keyExample: "7f8c2a1e-v2-first",
  lines: [{ sku: "PRINT-0001", quantity: 2 }],
  placed: {
    ...placed,
    total: euros(8_398),
    lines: [{ sku: "PRINT-0001", quantity: 2, unitPrice: euros(4_199) }],
  },
  print: { ...print, price: euros(4_199) },
};

const path = { id: orderId };
const filter = { status: status.meta({ description: "Only orders in this state." }) };
const volatile = ["id", "placedAt"];
const anyOrder = [...volatile, "status", "total", "currency", "lines", "next", "customerId"];

const links = {
  itself: {
    operation: "getOrder",
    parameters: { id: "$response.body#/id" },
    description: "The same order. `Location` leads to it as well.",
  },
  cancellation: {
    operation: "cancelOrder",
    parameters: { id: "$response.body#/id" },
    description: "Cancels it, as long as it is `PLACED` or `PAID`.",
  },
  customer: {
    operation: "getUser",
    parameters: { id: "$response.body#/customerId" },
    description: "The user who placed it.",
  },
};

function page(words: Words, item: object): unknown {
  return words.list === bareList
    ? [item]
    : { data: [item], page: { next: "TPrD0eO4pAhOgq0gIkPFym45OTk4", prev: null } };
}

function placeOrder(words: Words): OperationDocument {
  return {
    description: `Places an order for the caller: stock is taken, or nothing happens. ${words.key}`,
    callers: ["orders:write"],
    body: words.newOrder,
    answer: {
      status: 201,
      description: "The order.",
      schema: words.order,
      headers: ["ETag", "Location", "Idempotency-Replayed"],
      links,
    },
    problems: ["BAD_USER_INPUT", "OUT_OF_STOCK"],
    examples: [
      {
        name: "twoPrints",
        summary: "Ada orders two prints",
        as: "ada",
        path: "/orders",
        headers: { "Idempotency-Key": words.keyExample },
        body: { lines: words.lines },
        status: 201,
        answer: words.placed,
        varies: volatile,
      },
    ],
  };
}

function listOf(words: Words, name: string, url: string): Pick<OperationDocument, "answer" | "examples"> {
  return {
    answer: {
      status: 200,
      description: "A page of orders.",
      schema: words.list(words.order),
      headers: ["ETag", "Link"],
    },
    examples: [
      {
        name,
        summary: "Ada's newest order",
        as: "ada",
        path: url,
        status: 200,
        answer: page(words, words.placed),
        varies: anyOrder,
      },
    ],
  };
}

function listOrders(words: Words): OperationDocument {
  return {
    description: "The caller's own orders, newest first.",
    callers: ["orders:read", "orders:read:all"],
    query: { ...pageFields, ...filter, ...sortField },
    ...listOf(words, "ownOrders", "/orders?limit=1"),
  };
}

function listUserOrders(words: Words): OperationDocument {
  return {
    description:
      "One user's orders, newest first: for that user, and for the scope `orders:read:all`, which gets an empty list for a user whom nobody knows.",
    callers: ["orders:read", "orders:read:all"],
    path: { id: anyIdInPath("The user's id.", "1") },
    query: { ...pageFields, ...filter, ...sortField },
    ...listOf(words, "ordersOfAda", "/users/1/orders?limit=1"),
  };
}

function getOrder(words: Words): OperationDocument {
  const { cancellation, customer } = links;
  return {
    description: "An order. To a caller without the scope `orders:read:all`, others' orders do not exist.",
    callers: ["orders:read", "orders:read:all"],
    path,
    answer: {
      status: 200,
      description: "The order.",
      schema: words.order,
      headers: ["ETag"],
      links: { cancellation, customer },
    },
    problems: ["NOT_FOUND"],
    examples: [
      {
        name: "ownOrder",
        summary: "Ada's order",
        as: "ada",
        follows: "placeOrder",
        path: "/orders/019c4a5e-8c00-7c1d-9f3a-2b6d7e8f9a0b",
        status: 200,
        answer: words.placed,
        varies: volatile,
      },
    ],
  };
}

function cancelOrder(words: Words): OperationDocument {
  return {
    description:
      "Cancels an order that is `PLACED` or `PAID`, and gives the stock back; any other is 409. It takes no body, or an empty object.",
    callers: ["orders:write", "orders:write:all"],
    path,
    ifMatch: "optional",
    answer: {
      status: 200,
      description: "The order as it is now.",
      schema: words.order,
      headers: ["ETag"],
      links: { itself: links.itself, customer: links.customer },
    },
    problems: ["BAD_USER_INPUT", "NOT_FOUND", "INVALID_STATE"],
    examples: [
      {
        name: "changeOfMind",
        summary: "Ada thinks again",
        as: "ada",
        follows: "placeOrder",
        path: "/orders/019c4a5e-8c00-7c1d-9f3a-2b6d7e8f9a0b/cancellation",
        status: 200,
        answer: { ...words.placed, status: "CANCELLED" },
        varies: volatile,
      },
    ],
  };
}

function listProducts(words: Words): OperationDocument {
  return {
    description: "The catalogue, by sku.",
    callers: "anybody",
    query: pageFields,
    answer: {
      status: 200,
      description: "A page of products.",
      schema: words.list(words.product),
      headers: ["ETag", "Link"],
    },
    examples: [
      {
        name: "firstProduct",
        summary: "The first product",
        path: "/products?limit=1",
        status: 200,
        answer: page(words, words.print),
        varies: ["title", "stock", "postId", "next"],
      },
    ],
  };
}

function getProduct(words: Words): OperationDocument {
  return {
    description: "A product.",
    callers: "anybody",
    path: { sku },
    answer: { status: 200, description: "The product.", schema: words.product, headers: ["ETag"] },
    problems: ["NOT_FOUND"],
    examples: [
      {
        name: "print",
        summary: "A print",
        path: "/products/PRINT-0001",
        status: 200,
        answer: words.print,
        varies: ["title", "stock", "postId"],
      },
    ],
  };
}

/** The chapter of the orders. Composition merges it with the other teams' into one document for each version. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Orders", description: "The catalogue of print editions, and who ordered what." },
  operations: {
    placeOrder: { 1: placeOrder(wordsV1), 2: placeOrder(wordsV2) },
    listOrders: { 1: listOrders(wordsV1), 2: listOrders(wordsV2) },
    getOrder: { 1: getOrder(wordsV1), 2: getOrder(wordsV2) },
    cancelOrder: { 1: cancelOrder(wordsV1), 2: cancelOrder(wordsV2) },
    listUserOrders: { 1: listUserOrders(wordsV1), 2: listUserOrders(wordsV2) },
    listProducts: { 1: listProducts(wordsV1), 2: listProducts(wordsV2) },
    getProduct: { 1: getProduct(wordsV1), 2: getProduct(wordsV2) },
  },
};
