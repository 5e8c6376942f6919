import { createProjection } from "@tributary/kit/http/etag";
import type { Order, OrderLine, OrderStatus, Product } from "../model.ts";
import type { Money } from "../money.ts";
import { readNewOrderV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { sampleOrders, sampleProducts } from "./samples.ts";

/** An order in version 2: amounts are whole minor units of a currency. */
interface OrderV2 {
  readonly id: string;
  readonly customerId: string;
  readonly status: OrderStatus;
  readonly placedAt: string;
  readonly total: Money;
  readonly lines: readonly { readonly sku: string; readonly quantity: number; readonly unitPrice: Money }[];
}

function toOrderV2({ totalMinor, currency, ...order }: Order, lines: readonly OrderLine[]): OrderV2 {
  return {
    id: order.id,
    customerId: order.customerId,
    status: order.status,
    placedAt: order.placedAt.toISOString(),
    total: { amountMinor: totalMinor, currency },
    lines: lines.map(({ sku, quantity, unitPriceMinor, currency }) => ({
      sku,
      quantity,
      unitPrice: { amountMinor: unitPriceMinor, currency },
    })),
  };
}

interface ProductV2 {
  readonly sku: string;
  readonly title: string;
  readonly price: Money;
  readonly stock: number;
  readonly postId: string | null;
}

function toProductV2({ sku, title, priceMinor, currency, stock, postId }: Product): ProductV2 {
  return { sku, title, price: { amountMinor: priceMinor, currency }, stock, postId };
}

export const version2: RestVersion = {
  orders: createProjection(
    2,
    sampleOrders.map(([order, lines]) => toOrderV2(order, lines)),
  ),
  products: createProjection(2, sampleProducts.map(toProductV2)),
  quantityName: "quantity",
  toOrder: toOrderV2,
  toProduct: toProductV2,
  readNewOrder: readNewOrderV2,
};
