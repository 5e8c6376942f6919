// Shown in the OpenAPI documents. A test sends the requests and compares the responses, except for `varies`.
import type { NewOrderV1, NewOrderV2 } from "./read.ts";
import type { OrderV1, OrderV2, ProductV1, ProductV2 } from "./schemas.ts";

interface OrderExamples<Order, NewOrder, Product> {
  readonly placed: { readonly key: string; readonly body: NewOrder; readonly response: Order };
  readonly product: Product;
}

/** The members with the same value in both versions. */
const placedOrder = {
  id: "019c4a5e-8c00-7c1d-9f3a-2b6d7e8f9a0b",
  customerId: "1",
  status: "PLACED",
  placedAt: "2026-11-21T09:30:00.000Z",
} as const;
const print = { sku: "PRINT-0001", title: "A print", stock: 211, postId: "1" };
const euros = (amountMinor: number) => ({ amountMinor, currency: "EUR" });

export const examplesV1: OrderExamples<OrderV1, NewOrderV1, ProductV1> = {
  placed: {
    key: "7f8c2a1e-v1-first",
    body: { lines: [{ sku: "PRINT-0001", qty: 2 }] },
    response: {
      ...placedOrder,
      total: "83.98",
      currency: "EUR",
      lines: [{ sku: "PRINT-0001", qty: 2, unitPrice: "41.99" }],
    },
  },
  product: { ...print, price: "41.99", currency: "EUR" },
};

export const examplesV2: OrderExamples<OrderV2, NewOrderV2, ProductV2> = {
  placed: {
    key: "7f8c2a1e-v2-first",
    body: { lines: [{ sku: "PRINT-0001", quantity: 2 }] },
    response: {
      ...placedOrder,
      total: euros(8_398),
      lines: [{ sku: "PRINT-0001", quantity: 2, unitPrice: euros(4_199) }],
    },
  },
  product: { ...print, price: euros(4_199) },
};
