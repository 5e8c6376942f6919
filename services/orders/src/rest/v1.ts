import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import type { Order, OrderLine, Product } from "../model.ts";
import { toDecimal } from "../money.ts";
import { readNewOrderV1 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { sampleOrders, sampleProducts } from "./samples.ts";
import type { OrderV1, ProductV1 } from "./schemas.ts";

/** Amounts are decimal texts with the currency's places. */
const toOrderV1 = respondsWith<OrderV1>()((order: Order, lines: readonly OrderLine[]) => ({
  id: order.id,
  customerId: order.customerId,
  status: order.status,
  placedAt: order.placedAt.toISOString(),
  total: toDecimal({ amountMinor: order.totalMinor, currency: order.currency }),
  currency: order.currency,
  lines: lines.map(({ sku, quantity, unitPriceMinor, currency }) => ({
    sku,
    qty: quantity,
    unitPrice: toDecimal({ amountMinor: unitPriceMinor, currency }),
  })),
}));

const toProductV1 = respondsWith<ProductV1>()(({ sku, title, priceMinor, currency, stock, postId }: Product) => ({
  sku,
  title,
  price: toDecimal({ amountMinor: priceMinor, currency }),
  currency,
  stock,
  postId,
}));

export const version1: RestVersion = {
  orderProjection: createProjection(
    1,
    sampleOrders.map(([order, lines]) => toOrderV1(order, lines)),
  ),
  productProjection: createProjection(1, sampleProducts.map(toProductV1)),
  quantityName: "qty",
  toOrder: toOrderV1,
  toProduct: toProductV1,
  readNewOrder: readNewOrderV1,
};
