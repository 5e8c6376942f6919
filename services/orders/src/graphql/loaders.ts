import { createLoaderById, createLoaderByKey, withClearAll } from "@tributary/kit/graphql/loaders";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { OrderActions } from "../actions.ts";
import type { OrderLine, PlacedOrder } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** They cache what they load. `lines` does not check permissions: load only lines of orders that `order` or an action returned. */
export function createLoaders(actions: OrderActions, identity: Identity) {
  const order = createLoaderById(
    (ids) => actions.findOrders(identity, ids),
    ({ id }) => id,
  );
  const lines = createLoaderByKey<string, readonly OrderLine[]>(async (orderIds) => {
    const linesByOrder = Map.groupBy(await actions.findLines(orderIds), ({ orderId }) => orderId);
    return orderIds.map((id) => linesByOrder.get(id) ?? []);
  });
  const product = createLoaderById(actions.findProducts, ({ sku }) => sku);
  const ordersOfUser = createLoaderByKey(actions.listPagesOfCustomers);

  return {
    ...withClearAll({ order, lines, product, ordersOfUser }),

    /**
     * Stores the lines and products of a placed order, so that this mutation's payload has them without a statement. If an earlier request
     * with this idempotency key placed the order, `placed` has the products of that time, so both requests get the same payload. Call
     * `clearAll` first: priming does not replace a cached value.
     */
    primePlaced(placed: PlacedOrder): void {
      lines.prime(placed.order.id, placed.lines);
      for (const row of placed.products) product.prime(row.sku, row);
    },
  };
}
