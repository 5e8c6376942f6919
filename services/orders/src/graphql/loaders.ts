import type { Identity } from "@tributary/kit/identity";
import DataLoader from "dataloader";
import type { OrderActions } from "../actions.ts";
import type { CustomerPage, Order, OrderLine, PlacedOrder, Product } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** A part of one user's list of orders. */
export interface OrdersOfUser extends CustomerPage {
  readonly userId: string;
}

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
  const ordersOfUser = new DataLoader<OrdersOfUser, readonly Order[], string>((lists) => loadLists(actions, lists), {
    maxBatchSize,
    cacheKeyFn: ({ userId, limit, after }) => JSON.stringify([userId, limit, after]),
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

/** One statement for all users whose lists are asked for in the same way, as they are when one field stands in a list of users. */
async function loadLists(actions: OrderActions, lists: readonly OrdersOfUser[]): Promise<(readonly Order[])[]> {
  const found = new Map<OrdersOfUser, readonly Order[]>();
  for (const alike of Map.groupBy(lists, ({ limit, after }) => JSON.stringify([limit, after])).values()) {
    const [page] = alike;
    const orders = await actions.listOrdersOfMany(
      alike.map(({ userId }) => userId),
      { limit: page?.limit ?? 0, after: page?.after },
    );
    const byCustomer = Map.groupBy(orders, ({ customerId }) => customerId);
    for (const list of alike) found.set(list, byCustomer.get(list.userId) ?? []);
  }
  return lists.map((list) => found.get(list) ?? []);
}
