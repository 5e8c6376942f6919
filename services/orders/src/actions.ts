import { AppError } from "@tributary/kit/errors/app-error";
import { anyVersion, type Precondition, requireVersion } from "@tributary/kit/http/etag";
import { type Identity, hasScope, isUser, refuse, requireScope } from "@tributary/kit/identity/tokens";
import { joinLookups } from "@tributary/kit/lists/joined-lookup";
import type { PageRequest } from "@tributary/kit/lists/keyset";
import {
  type ListPart,
  type NewOrder,
  type Order,
  type OrderFilters,
  type OrderState,
  type OrderStatus,
  type Product,
  requireAdvance,
  requireCancellable,
} from "./model.ts";
import type { OrderStore } from "./store.ts";

export interface CancellationTerms {
  readonly precondition?: Precondition;
  readonly input?: () => void;
}

export type OrderActions = ReturnType<typeof createOrderActions>;

/**
 * What can be done with orders and products, and who may. Both doors come through here. Input comes as a function: it is read only
 * after the caller was let in, so that strangers hear 401 before anything else.
 */
export function createOrderActions(store: OrderStore) {
  const lookUpVersion = joinLookups((skus) => store.findProductVersions(skus));

  return {
    findProducts: (skus: readonly string[]) => store.findProducts(skus),

    /** @throws AppError NOT_FOUND. */
    async getProduct(sku: string): Promise<Product> {
      const [product] = await store.findProducts([sku]);
      return requireFound(product, "product");
    },

    /** @throws AppError NOT_FOUND. */
    async getProductVersion(sku: string): Promise<string> {
      return requireFound(await lookUpVersion(sku), "product").rowVersion;
    },

    listProducts: (request: PageRequest) => store.listProducts(request),

    listProductVersions: (request: PageRequest) => store.listProductVersions(request),

    /** Those that the caller may see; to them, others' do not exist. @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    async findOrders(identity: Identity, ids: readonly string[]): Promise<readonly Order[]> {
      requireScope(identity, "orders:read", "orders:read:all");
      return (await store.findOrders(ids)).filter((order) => mayRead(identity, order));
    },

    /** One that the caller may see; to them, others' do not exist. @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND. */
    async getOrder(identity: Identity, id: string): Promise<Order> {
      requireScope(identity, "orders:read", "orders:read:all");
      const [order] = await store.findOrders([id]);
      return requireReadable(identity, order);
    },

    /** The state of an order that `getOrder` would find. @throws AppError as it does. */
    async getOrderState(identity: Identity, id: string): Promise<OrderState> {
      requireScope(identity, "orders:read", "orders:read:all");
      return requireReadable(identity, await store.findOrderState(id));
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

    /** For such a customer. */
    listOrderVersions: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      store.listOrderVersions(customerId, filters, request),

    /** Parts of many such customers' lists, each in the place of its request. */
    listParts: (parts: readonly ListPart[]) => store.listParts(parts),

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, OUT_OF_STOCK, IDEMPOTENCY_KEY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED. */
    placeOrder(identity: Identity, input: () => NewOrder) {
      const { userId } = requireScope(identity, "orders:write");
      return store.placeOrder(userId, input());
    },

    /**
     * @param terms under which conditions to cancel it; `input` is read once they hold (RFC 9110, 13.2.1).
     * @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED, INVALID_STATE, and what reading the input throws.
     */
    async cancelOrder(
      identity: Identity,
      id: string,
      { precondition = anyVersion, input = () => {} }: CancellationTerms = {},
    ): Promise<Order> {
      requireScope(identity, "orders:write", "orders:write:all");
      return requireFound(
        await store.moveOrder(id, "CANCELLED", (order) => {
          requireMayCancel(identity, order);
          requireVersion(precondition, order.rowVersion);
          input();
          requireCancellable(order.status);
        }),
        "order",
      );
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    async advanceOrder(identity: Identity, id: string, to: OrderStatus): Promise<Order> {
      requireScope(identity, "orders:write:all");
      return requireFound(await store.moveOrder(id, to, (order) => requireAdvance(order.status, to)), "order");
    },
  };
}

function requireReadable<T extends OrderState>(identity: Identity, order: T | undefined): T {
  return requireFound(order !== undefined && mayRead(identity, order) ? order : undefined, "order");
}

function mayRead(identity: Identity, order: OrderState): boolean {
  return (
    (isUser(identity, order.customerId) && hasScope(identity, "orders:read")) || hasScope(identity, "orders:read:all")
  );
}

/** Who may not even see the order does not learn that it is there. */
function requireMayCancel(identity: Identity, order: Order): void {
  if (isUser(identity, order.customerId) || hasScope(identity, "orders:write:all")) return;
  requireReadable(identity, order);
  throw refuse(identity, "This is for its customer, and for the scope orders:write:all.");
}

function requireFound<T>(found: T | undefined, what: "order" | "product"): T {
  if (found !== undefined) return found;
  throw new AppError("NOT_FOUND", `There is no such ${what}.`);
}
