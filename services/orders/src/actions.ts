import { AppError } from "@tributary/kit/errors/app-error";
import { anyVersion, type Precondition, requireVersion } from "@tributary/kit/http/etag";
import { type Identity, hasScope, isUser, denyAccess, requireScope } from "@tributary/kit/identity/tokens";
import { batchLookups } from "@tributary/kit/lists/batched-lookup";
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

export interface CancellationOptions {
  readonly precondition?: Precondition;
  readonly input?: () => void;
}

export type OrderActions = ReturnType<typeof createOrderActions>;

/**
 * The operations on orders and products, with their authorization rules, for both endpoints. Input is a function that is called only
 * after authorization, so that an anonymous client gets 401 before any other error.
 */
export function createOrderActions(store: OrderStore) {
  const lookUpVersion = batchLookups((skus) => store.findProductVersions(skus));

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

    /** Leaves out orders that the caller may not read. @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    async findOrders(identity: Identity, ids: readonly string[]): Promise<readonly Order[]> {
      requireScope(identity, "orders:read", "orders:read:all");
      return (await store.findOrders(ids)).filter((order) => mayRead(identity, order));
    },

    /** An order that the caller may not read is NOT_FOUND. @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND. */
    async getOrder(identity: Identity, id: string): Promise<Order> {
      requireScope(identity, "orders:read", "orders:read:all");
      const [order] = await store.findOrders([id]);
      return requireReadable(identity, order);
    },

    /** Only the state of the order that `getOrder` returns, with the same errors. */
    async getOrderState(identity: Identity, id: string): Promise<OrderState> {
      requireScope(identity, "orders:read", "orders:read:all");
      return requireReadable(identity, await store.findOrderState(id));
    },

    /** Does not check permissions: call it only with orders that the caller may read. */
    findLines: (orderIds: readonly string[]) => store.findLines(orderIds),

    /** @returns the caller's id. @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    requireReader: (identity: Identity): string => requireScope(identity, "orders:read", "orders:read:all").userId,

    /** @returns the user's id, if the caller may read this user's orders. @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    requireReaderOf(identity: Identity, userId: string): string {
      requireScope(identity, "orders:read", "orders:read:all");
      if (isUser(identity, userId) || hasScope(identity, "orders:read:all")) return userId;
      throw denyAccess(identity, "Only this user, or a caller with the scope orders:read:all, may read these orders.");
    },

    /** Does not check permissions: call `requireReader` or `requireReaderOf` first. */
    listOrders: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      store.listOrders(customerId, filters, request),

    /** Does not check permissions, like `listOrders`. */
    listOrderVersions: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      store.listOrderVersions(customerId, filters, request),

    /** Does not check permissions, like `listOrders`. The result has the order of `parts`. */
    listParts: (parts: readonly ListPart[]) => store.listParts(parts),

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, OUT_OF_STOCK, IDEMPOTENCY_KEY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED. */
    placeOrder(identity: Identity, input: () => NewOrder) {
      const { userId } = requireScope(identity, "orders:write");
      return store.placeOrder(userId, input());
    },

    /**
     * `input` reads the request body; it is called after the precondition holds (RFC 9110, 13.2.1).
     * @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED, INVALID_STATE, and the errors of `input`.
     */
    async cancelOrder(
      identity: Identity,
      id: string,
      { precondition = anyVersion, input = () => {} }: CancellationOptions = {},
    ): Promise<Order> {
      requireScope(identity, "orders:write", "orders:write:all");
      return requireFound(
        await store.changeStatus(id, "CANCELLED", (order) => {
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
      return requireFound(await store.changeStatus(id, to, (order) => requireAdvance(order.status, to)), "order");
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

/** NOT_FOUND instead of FORBIDDEN for a caller who may not read the order. */
function requireMayCancel(identity: Identity, order: Order): void {
  if (isUser(identity, order.customerId) || hasScope(identity, "orders:write:all")) return;
  requireReadable(identity, order);
  throw denyAccess(identity, "Only the order's customer, or a caller with the scope orders:write:all, may cancel it.");
}

function requireFound<T>(row: T | undefined, kind: "order" | "product"): T {
  if (row !== undefined) return row;
  throw new AppError("NOT_FOUND", `There is no such ${kind}.`);
}
