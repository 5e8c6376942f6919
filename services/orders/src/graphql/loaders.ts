import { loadById, loadByKey } from "@tributary/kit/graphql/loaders";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { OrderActions } from "../actions.ts";
import type { Order, OrderLine, PlacedOrder } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** The DataLoaders of one request and its caller; they cache what they load, so each request creates its own. */
export function createLoaders(actions: OrderActions, identity: Identity) {
  const order = loadById(
    (ids) => actions.findOrders(identity, ids),
    ({ id }) => id,
  );
  const lines = loadByKey<string, readonly OrderLine[]>(async (orderIds) => {
    const byOrder = Map.groupBy(await actions.findLines(orderIds), ({ orderId }) => orderId);
    return orderIds.map((id) => byOrder.get(id) ?? []);
  });
  const product = loadById(actions.findProducts, ({ sku }) => sku);
  const ordersOfUser = loadByKey(actions.listParts);

  /** A write makes cached values stale. */
  function clear(): void {
    for (const loader of [order, lines, product, ordersOfUser]) loader.clearAll();
  }

  return {
    order,
    lines,
    product,
    ordersOfUser,

    /** Clears the loaders after an order changed its status. */
    clearAfter(changed: Order): Order {
      clear();
      return changed;
    },

    /** Clears the loaders and primes them with the order's lines and products as stored, so that a replay shows the first result. */
    primeWith(placed: PlacedOrder): Order {
      clear();
      lines.prime(placed.order.id, placed.lines);
      for (const row of placed.products) product.prime(row.sku, row);
      return placed.order;
    },
  };
}
