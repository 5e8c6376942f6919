import { createProjection } from "@tributary/kit/http/etag";
import type { Order, OrderLine, OrderStatus, Product } from "../model.ts";
import { toDecimal } from "../money.ts";
import { readNewOrderV1 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { sampleOrders, sampleProducts } from "./samples.ts";

/** An order in version 1: amounts are decimal texts with the currency's places. */
interface OrderV1 {
  readonly id: string;
  readonly customerId: string;
  readonly status: OrderStatus;
  readonly placedAt: string;
  readonly total: string;
  readonly currency: string;
  readonly lines: readonly { readonly sku: string; readonly qty: number; readonly unitPrice: string }[];
}

function toOrderV1(order: Order, lines: readonly OrderLine[]): OrderV1 {
  return {
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
  };
}

interface ProductV1 {
  readonly sku: string;
  readonly title: string;
  readonly price: string;
  readonly currency: string;
  readonly stock: number;
  readonly postId: string | null;
}

function toProductV1({ sku, title, priceMinor, currency, stock, postId }: Product): ProductV1 {
  return { sku, title, price: toDecimal({ amountMinor: priceMinor, currency }), currency, stock, postId };
}

export const version1: RestVersion = {
  orders: createProjection(
    1,
    sampleOrders.map(([order, lines]) => toOrderV1(order, lines)),
  ),
  products: createProjection(1, sampleProducts.map(toProductV1)),
  quantityName: "qty",
  toOrder: toOrderV1,
  toProduct: toProductV1,
  readNewOrder: readNewOrderV1,
};
