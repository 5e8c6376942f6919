import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import type { Order, OrderLine, Product } from "../model.ts";
import { readNewOrderV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { sampleOrders, sampleProducts } from "./samples.ts";
import type { OrderV2, ProductV2 } from "./schemas.ts";

/** Amounts are whole minor units of a currency. */
const toOrderV2 = respondsWith<OrderV2>()((order: Order, lines: readonly OrderLine[]) => ({
  id: order.id,
  customerId: order.customerId,
  status: order.status,
  placedAt: order.placedAt.toISOString(),
  total: { amountMinor: order.totalMinor, currency: order.currency },
  lines: lines.map(({ sku, quantity, unitPriceMinor, currency }) => ({
    sku,
    quantity,
    unitPrice: { amountMinor: unitPriceMinor, currency },
  })),
}));

const toProductV2 = respondsWith<ProductV2>()(({ sku, title, priceMinor, currency, stock, postId }: Product) => ({
  sku,
  title,
  price: { amountMinor: priceMinor, currency },
  stock,
  postId,
}));

export const version2: RestVersion = {
  orderProjection: createProjection(
    2,
    sampleOrders.map(([order, lines]) => toOrderV2(order, lines)),
  ),
  productProjection: createProjection(2, sampleProducts.map(toProductV2)),
  quantityName: "quantity",
  toOrder: toOrderV2,
  toProduct: toProductV2,
  readNewOrder: readNewOrderV2,
};
