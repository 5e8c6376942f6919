import type { Order, OrderLine, Product } from "../model.ts";

const printed: Product = {
  sku: "A-SKU",
  title: "A title",
  priceMinor: 1299,
  currency: "EUR",
  stock: 7,
  postId: "1",
  rowVersion: "1",
};

/** Products with each field filled and empty: what a version of the door makes of them tells it from what it made before. */
export const productSpecimens: readonly Product[] = [
  printed,
  { ...printed, priceMinor: 5, currency: "JPY", postId: null },
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

/** Orders with all that can be told apart, as `productSpecimens`. */
export const orderSpecimens: readonly (readonly [Order, readonly OrderLine[]])[] = [
  [order, [line]],
  [{ ...order, currency: "JPY" }, [{ ...line, currency: "JPY" }]],
];
