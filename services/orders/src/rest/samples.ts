import type { Order, OrderLine, Product } from "../model.ts";

const product: Product = {
  sku: "A-SKU",
  title: "A title",
  priceMinor: 1299,
  currency: "EUR",
  stock: 7,
  postId: "1",
  rowVersion: "1",
};

/** With every field set and with every optional one empty. A release that represents a field differently changes the hash in all ETags. */
export const sampleProducts: readonly Product[] = [
  product,
  { ...product, priceMinor: 5, currency: "JPY", postId: null },
];

const order: Order = {
  id: "0190b5f0-0000-7000-8000-000000000000",
  customerId: "1",
  status: "PLACED",
  totalMinor: 2598,
  currency: "EUR",
  placedAt: new Date("2026-01-02T03:04:05.678Z"),
  rowVersion: "1",
};

const line: OrderLine = { orderId: order.id, sku: "A-SKU", quantity: 2, unitPriceMinor: 1299, currency: "EUR" };

/** Orders with their lines, in a currency with two decimal places and in a currency with none. Used like `sampleProducts`. */
export const sampleOrders: readonly (readonly [Order, readonly OrderLine[]])[] = [
  [order, [line]],
  [{ ...order, currency: "JPY" }, [{ ...line, currency: "JPY" }]],
];
