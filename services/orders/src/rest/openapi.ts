import type { OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
import {
  anyIdInPath,
  bareList,
  examplePage,
  pageFields,
  pageOf,
  pageResponse,
  sortField,
} from "@tributary/kit/openapi/schemas";
import type { z } from "zod";
import { examplesV1, examplesV2 } from "./examples.ts";
import type { routes } from "./routes.ts";
import { newOrderV1, newOrderV2, orderId, orderV1, orderV2, productV1, productV2, sku, status } from "./schemas.ts";

interface VersionSchemas {
  readonly order: z.ZodType;
  readonly product: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newOrder: z.ZodType;
  /** A sentence on `Idempotency-Key`: optional in version 1, required in version 2. */
  readonly keyDescription: string;
  readonly examples: typeof examplesV1 | typeof examplesV2;
}

const optionalKeyDescription =
  "With an `Idempotency-Key` the request can be retried safely: for 24 hours a repetition gets the first response.";

const schemasV1: VersionSchemas = {
  order: orderV1,
  product: productV1,
  list: bareList,
  newOrder: newOrderV1,
  keyDescription: optionalKeyDescription,
  examples: examplesV1,
};

const schemasV2: VersionSchemas = {
  order: orderV2,
  product: productV2,
  list: pageOf,
  newOrder: newOrderV2,
  keyDescription: "The `Idempotency-Key` makes retries safe: for 24 hours a repetition gets the first response.",
  examples: examplesV2,
};

const path = { id: orderId };
const statusFilter = status.meta({ description: "Only orders with this status." });
/** Members whose values the test of the examples ignores; in a list, any of Ada's orders may be the newest. */
const volatile = ["id", "placedAt"];
const volatileInOrders = [...volatile, "status", "total", "currency", "lines", "next", "customerId"];

const links = {
  itself: {
    operation: "getOrder",
    parameters: { id: "$response.body#/id" },
    description: "This order.",
  },
  cancellation: {
    operation: "cancelOrder",
    parameters: { id: "$response.body#/id" },
    description: "Cancels the order while it is `PLACED` or `PAID`.",
  },
  customer: {
    operation: "getUser",
    parameters: { id: "$response.body#/customerId" },
    description: "The user who placed it.",
  },
};

function placeOrder(schemas: VersionSchemas): OperationDocument {
  return {
    description: `Places an order for the caller and takes its products from stock. If a product is out of stock, nothing changes. ${schemas.keyDescription}`,
    callers: ["orders:write"],
    body: schemas.newOrder,
    response: {
      status: 201,
      description: "The order.",
      schema: schemas.order,
      links,
    },
    problems: ["BAD_USER_INPUT", "OUT_OF_STOCK"],
    examples: [
      {
        name: "twoPrints",
        summary: "Ada orders two prints",
        as: "ada",
        path: "/orders",
        headers: { "Idempotency-Key": schemas.examples.placed.key },
        body: schemas.examples.placed.body,
        response: schemas.examples.placed.response,
        varies: volatile,
      },
    ],
  };
}

function documentOrderPage(
  schemas: VersionSchemas,
  exampleName: string,
  examplePath: string,
): Pick<OperationDocument, "response" | "examples"> {
  return {
    response: pageResponse(schemas.list, schemas.order, "orders"),
    examples: [
      {
        name: exampleName,
        summary: "Ada's newest order",
        as: "ada",
        path: examplePath,
        response: examplePage(schemas.list, schemas.examples.placed.response),
        varies: volatileInOrders,
      },
    ],
  };
}

function listOrders(schemas: VersionSchemas): OperationDocument {
  return {
    description: "The caller's own orders, newest first.",
    callers: ["orders:read", "orders:read:all"],
    query: { ...pageFields, status: statusFilter, ...sortField },
    ...documentOrderPage(schemas, "ownOrders", "/orders?limit=1"),
  };
}

function listUserOrders(schemas: VersionSchemas): OperationDocument {
  return {
    description:
      "One user's orders, newest first. Only this user, or a caller with the scope `orders:read:all`, may read them. An empty list for an unknown user.",
    callers: ["orders:read", "orders:read:all"],
    path: { id: anyIdInPath("The user's id.", "1") },
    query: { ...pageFields, status: statusFilter, ...sortField },
    ...documentOrderPage(schemas, "ordersOfAda", "/users/1/orders?limit=1"),
  };
}

function getOrder(schemas: VersionSchemas): OperationDocument {
  const { cancellation, customer } = links;
  return {
    description: "An order. Without the scope `orders:read:all`, the response for another customer's order is 404.",
    callers: ["orders:read", "orders:read:all"],
    path,
    response: {
      status: 200,
      description: "The order.",
      schema: schemas.order,
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
        response: schemas.examples.placed.response,
        varies: volatile,
      },
    ],
  };
}

function cancelOrder(schemas: VersionSchemas): OperationDocument {
  return {
    description: `Cancels an order that is \`PLACED\` or \`PAID\`, and returns its products to stock. With any other status the response is 409. Send no body, or an empty object. ${optionalKeyDescription}`,
    callers: ["orders:write", "orders:write:all"],
    path,
    ifMatch: "optional",
    response: {
      status: 200,
      description: "The cancelled order.",
      schema: schemas.order,
      links: { itself: links.itself, customer: links.customer },
    },
    problems: ["BAD_USER_INPUT", "NOT_FOUND", "INVALID_STATE"],
    examples: [
      {
        name: "changeOfMind",
        summary: "Ada cancels her order",
        as: "ada",
        follows: "placeOrder",
        path: "/orders/019c4a5e-8c00-7c1d-9f3a-2b6d7e8f9a0b/cancellation",
        response: { ...schemas.examples.placed.response, status: "CANCELLED" },
        varies: volatile,
      },
    ],
  };
}

function listProducts(schemas: VersionSchemas): OperationDocument {
  return {
    description: "The catalogue, by sku.",
    callers: "everyone",
    query: pageFields,
    response: pageResponse(schemas.list, schemas.product, "products"),
    examples: [
      {
        name: "firstProduct",
        summary: "The first product",
        path: "/products?limit=1",
        response: examplePage(schemas.list, schemas.examples.product),
        varies: ["title", "stock", "postId", "next"],
      },
    ],
  };
}

function getProduct(schemas: VersionSchemas): OperationDocument {
  return {
    description: "A product.",
    callers: "everyone",
    path: { sku },
    response: { status: 200, description: "The product.", schema: schemas.product },
    problems: ["NOT_FOUND"],
    examples: [
      {
        name: "print",
        summary: "A print",
        path: "/products/PRINT-0001",
        response: schemas.examples.product,
        varies: ["title", "stock", "postId"],
      },
    ],
  };
}

/** A route without an operation does not compile; one without an operation for a version fails in `npm run generate`. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Orders", description: "The catalogue of print editions, and orders." },
  operations: {
    placeOrder: { 1: placeOrder(schemasV1), 2: placeOrder(schemasV2) },
    listOrders: { 1: listOrders(schemasV1), 2: listOrders(schemasV2) },
    getOrder: { 1: getOrder(schemasV1), 2: getOrder(schemasV2) },
    cancelOrder: { 1: cancelOrder(schemasV1), 2: cancelOrder(schemasV2) },
    listUserOrders: { 1: listUserOrders(schemasV1), 2: listUserOrders(schemasV2) },
    listProducts: { 1: listProducts(schemasV1), 2: listProducts(schemasV2) },
    getProduct: { 1: getProduct(schemasV1), 2: getProduct(schemasV2) },
  },
};
