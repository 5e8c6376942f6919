import type { Identity } from "@tributary/kit/identity/tokens";
import DataLoader from "dataloader";
import type { OrderActions } from "../actions.ts";
import type { ListPart, Order, OrderLine, PlacedOrder, Product } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

const maxBatchSize = 1_000;

/** A hundred references are one statement. For one request and its caller only: they remember. */
export function createLoaders(actions: OrderActions, identity: Identity) {
  const order = new DataLoader<string, Order | null>(
    async (ids) => {
      const byId = new Map((await actions.findOrders(identity, ids)).map((found) => [found.id, found]));
      return ids.map((id) => byId.get(id) ?? null);
    },
    { maxBatchSize },
  );
  const lines = new DataLoader<string, readonly OrderLine[]>(
    async (orderIds) => {
      const byOrder = Map.groupBy(await actions.findLines(orderIds), ({ orderId }) => orderId);
      return orderIds.map((id) => byOrder.get(id) ?? []);
    },
    { maxBatchSize },
  );
  const product = new DataLoader<string, Product | null>(
    async (skus) => {
      const bySku = new Map((await actions.findProducts(skus)).map((found) => [found.sku, found]));
      return skus.map((sku) => bySku.get(sku) ?? null);
    },
    { maxBatchSize },
  );
  const ordersOfUser = new DataLoader<ListPart, readonly Order[], string>((parts) => actions.listParts(parts), {
    maxBatchSize,
    cacheKeyFn: ({ customerId, limit, after }) => JSON.stringify([customerId, limit, after]),
  });

  /** After a write, what was read before it no longer holds. */
  function forget(): void {
    for (const loader of [order, lines, product, ordersOfUser]) loader.clearAll();
  }

  return {
    order,
    lines,
    product,
    ordersOfUser,

    /** An order that was moved. */
    moved(changed: Order): Order {
      forget();
      return changed;
    },

    /** An order that was placed is shown with its lines and products as they were then: a replay says what was said. */
    placed(placed: PlacedOrder): Order {
      forget();
      lines.prime(placed.order.id, placed.lines);
      for (const found of placed.products) product.prime(found.sku, found);
      return placed.order;
    },
  };
}
