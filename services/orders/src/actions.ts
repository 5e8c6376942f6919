import { anyVersion, type Precondition, requireVersion } from "@tributary/kit/http/etag";
import type { IdempotentResult } from "@tributary/kit/idempotency/idempotency";
import { type Identity, hasScope, isUser, denyAccess, requireAnyScope } from "@tributary/kit/identity/tokens";
import { batchLookups } from "@tributary/kit/lists/batched-lookup";
import type { PageRequest } from "@tributary/kit/lists/keyset";
import {
  type CustomerPageRequest,
  type NewOrder,
  type Order,
  type OrderFilters,
  type OrderState,
  type OrderStatus,
  type Product,
  requireAdvance,
  requireCancellable,
  requireFound,
} from "./model.ts";
import type { OrderStore } from "./store.ts";

export interface CancellationOptions {
  /** The version that the order must have; any version by default. */
  readonly precondition?: Precondition;
  /** Throws if the request body is invalid. Called after the precondition holds (RFC 9110, 13.2.1). */
  readonly validateInput?: () => void;
  /** Throws for an invalid key. Without a key a repeated cancellation is INVALID_STATE. */
  readonly readKey?: () => string | undefined;
}

export type OrderActions = ReturnType<typeof createOrderActions>;

/** Input is called only after the scope check, so that 401 and 403 precede its errors. Everyone may read products. */
export function createOrderActions(store: OrderStore) {
  // Concurrent requests share one statement. Nothing is cached.
  const findVersionBatched = batchLookups((skus) => store.findProductVersions(skus));

  return {
    findProducts: (skus: readonly string[]) => store.findProducts(skus),

    /** @throws AppError NOT_FOUND. */
    async getProduct(sku: string): Promise<Product> {
      const [product] = await store.findProducts([sku]);
      return requireFound(product, "product");
    },

    /** @throws AppError NOT_FOUND. */
    async getProductVersion(sku: string): Promise<string> {
      return requireFound(await findVersionBatched(sku), "product").rowVersion;
    },

    listProducts: (request: PageRequest) => store.listProducts(request),

    listProductVersions: (request: PageRequest) => store.listProductVersions(request),

    /** Leaves out orders that the caller may not read. @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    async findOrders(identity: Identity, ids: readonly string[]): Promise<readonly Order[]> {
      requireAnyScope(identity, "orders:read", "orders:read:all");
      return (await store.findOrders(ids)).filter((order) => mayRead(identity, order));
    },

    /** An order that the caller may not read is NOT_FOUND. @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND. */
    async getOrder(identity: Identity, id: string): Promise<Order> {
      requireAnyScope(identity, "orders:read", "orders:read:all");
      const [order] = await store.findOrders([id]);
      return requireReadable(identity, order);
    },

    /** Only the state of the order that `getOrder` returns, with the same errors. */
    async getOrderState(identity: Identity, id: string): Promise<OrderState> {
      requireAnyScope(identity, "orders:read", "orders:read:all");
      return requireReadable(identity, await store.findOrderState(id));
    },

    /** Does not check permissions: call it only with orders that the caller may read. */
    findLines: (orderIds: readonly string[]) => store.findLines(orderIds),

    /** The customer id for the list of the caller's own orders. @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    getOwnCustomerId: (identity: Identity): string =>
      requireAnyScope(identity, "orders:read", "orders:read:all").userId,

    /**
     * The customer id for the list of this user's orders: `userId`, unless an error is thrown. @throws AppError UNAUTHENTICATED, FORBIDDEN.
     */
    getReadableCustomerId(identity: Identity, userId: string): string {
      requireAnyScope(identity, "orders:read", "orders:read:all");
      if (isUser(identity, userId) || hasScope(identity, "orders:read:all")) return userId;
      throw denyAccess(identity, "Only this user, or a caller with the scope orders:read:all, may read these orders.");
    },

    /** Does not check permissions: get `customerId` from `getOwnCustomerId` or `getReadableCustomerId`, which do. */
    listOrders: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      store.listOrders(customerId, filters, request),

    /** Does not check permissions, like `listOrders`. */
    listOrderVersions: (customerId: string, filters: OrderFilters, request: PageRequest) =>
      store.listOrderVersions(customerId, filters, request),

    /** Does not check permissions, like `listOrders`. The result has one page per request, in the same sequence. */
    listPagesOfCustomers: (requests: readonly CustomerPageRequest[]) => store.listPagesOfCustomers(requests),

    /**
     * @throws AppError UNAUTHENTICATED, FORBIDDEN, then the errors of `input`, then those of pricing and of the idempotency key:
     * BAD_USER_INPUT, OUT_OF_STOCK, IDEMPOTENCY_KEY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED.
     */
    placeOrder(identity: Identity, input: () => NewOrder) {
      const { userId } = requireAnyScope(identity, "orders:write");
      return store.placeOrder(userId, input());
    },

    /**
     * @throws AppError UNAUTHENTICATED, FORBIDDEN, the errors of `readKey` and of the key, NOT_FOUND, PRECONDITION_FAILED, the errors of
     * `validateInput`, INVALID_STATE.
     */
    async cancelOrder(
      identity: Identity,
      id: string,
      { precondition = anyVersion, validateInput = () => {}, readKey = () => undefined }: CancellationOptions = {},
    ): Promise<IdempotentResult<Order>> {
      const { userId: callerId } = requireAnyScope(identity, "orders:write", "orders:write:all");
      const key = readKey();
      const check = (order: Order) => {
        requireMayCancel(identity, order);
        requireVersion(precondition, order.rowVersion);
        validateInput();
        requireCancellable(order.status);
      };
      const callerKey = key === undefined ? undefined : { callerId, key };
      const cancelled = await store.changeStatus(id, "CANCELLED", check, callerKey);
      // Of a replay: since its first request the caller may have lost a scope.
      requireMayCancel(identity, cancelled.result);
      return cancelled;
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    async advanceOrder(identity: Identity, id: string, to: OrderStatus): Promise<Order> {
      requireAnyScope(identity, "orders:write:all");
      const check = (order: Order) => requireAdvance(order.status, to);
      const { result } = await store.changeStatus(id, to, check);
      return result;
    },
  };
}

function requireReadable<T extends OrderState>(identity: Identity, order: T | undefined): T {
  const isReadable = order !== undefined && mayRead(identity, order);
  return requireFound(isReadable ? order : undefined, "order");
}

function mayRead(identity: Identity, order: OrderState): boolean {
  const mayReadAsCustomer = isUser(identity, order.customerId) && hasScope(identity, "orders:read");
  return mayReadAsCustomer || hasScope(identity, "orders:read:all");
}

/** @throws AppError FORBIDDEN for a caller who may read the order but not cancel it, NOT_FOUND for one who may not read it either. */
function requireMayCancel(identity: Identity, order: Order): void {
  if (isUser(identity, order.customerId) || hasScope(identity, "orders:write:all")) return;
  requireReadable(identity, order);
  throw denyAccess(identity, "Only the order's customer, or a caller with the scope orders:write:all, may cancel it.");
}
