import { AppError } from "@tributary/kit/errors";
import { type Identity, hasScope, isUser, refuse, requireScope } from "@tributary/kit/identity";
import type { PageRequest } from "@tributary/kit/keyset";
import {
  type ListPart,
  type NewOrder,
  type Order,
  type OrderFilters,
  type OrderStatus,
  requireAdvance,
  requireCancellable,
} from "./model.ts";
import type { OrderStore } from "./store.ts";

export type OrderActions = ReturnType<typeof createOrderActions>;

/**
 * What can be done with orders and products, and who may. Both doors come through here. Input comes as a function: it is read only
 * after the caller was let in, so that strangers hear 401 before anything else.
 */
export function createOrderActions(store: OrderStore) {
  return {
    findProducts: (skus: readonly string[]) => store.findProducts(skus),

    listProducts: (request: PageRequest) => store.listProducts(request),

    /** Those that the caller may see; to them, others' do not exist. @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    async findOrders(identity: Identity, ids: readonly string[]): Promise<readonly Order[]> {
      requireScope(identity, "orders:read", "orders:read:all");
      return (await store.findOrders(ids)).filter((order) => mayRead(identity, order));
    },

    /** Lines of orders that the caller was given already. */
    findLines: (orderIds: readonly string[]) => store.findLines(orderIds),

    /** @returns the caller's id. @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    requireReader: (identity: Identity): string => requireScope(identity, "orders:read", "orders:read:all").userId,

    /** @returns that user's id, when the caller may read their orders. @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    requireReaderOf(identity: Identity, userId: string): string {
      requireScope(identity, "orders:read", "orders:read:all");
      if (isUser(identity, userId) || hasScope(identity, "orders:read:all")) return userId;
      throw refuse(
        identity,
        "These are another user's orders: they are for that user, and for the scope orders:read:all.",
      );
    },

    /** For a customer whose orders the caller may read: see `requireReader` and `requireReaderOf`. */
    listOrders: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      store.listOrders(customerId, filters, request),

    /** Parts of many such customers' lists, each in the place of its request. */
    listParts: (parts: readonly ListPart[]) => store.listParts(parts),

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, OUT_OF_STOCK, IDEMPOTENCY_KEY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED. */
    placeOrder(identity: Identity, input: () => NewOrder) {
      const { userId } = requireScope(identity, "orders:write");
      return store.placeOrder(userId, input());
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE, and what reading the input throws. */
    async cancelOrder(identity: Identity, id: string, input: () => void = () => {}): Promise<Order> {
      requireScope(identity, "orders:write", "orders:write:all");
      input();
      return requireFound(
        await store.moveOrder(id, "CANCELLED", (order) => {
          requireMayCancel(identity, order);
          requireCancellable(order.status);
        }),
      );
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    async advanceOrder(identity: Identity, id: string, to: OrderStatus): Promise<Order> {
      requireScope(identity, "orders:write:all");
      return requireFound(await store.moveOrder(id, to, (order) => requireAdvance(order.status, to)));
    },
  };
}

function mayRead(identity: Identity, order: Order): boolean {
  return (
    (isUser(identity, order.customerId) && hasScope(identity, "orders:read")) || hasScope(identity, "orders:read:all")
  );
}

/** Who may not even see the order does not learn that it is there. */
function requireMayCancel(identity: Identity, order: Order): void {
  if (isUser(identity, order.customerId) || hasScope(identity, "orders:write:all")) return;
  if (!mayRead(identity, order)) throw noSuchOrder();
  throw refuse(identity, "This is for its customer, and for the scope orders:write:all.");
}

function requireFound(order: Order | undefined): Order {
  if (order !== undefined) return order;
  throw noSuchOrder();
}

function noSuchOrder(): AppError {
  return new AppError("NOT_FOUND", "There is no such order.");
}
