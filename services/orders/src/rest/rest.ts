// For a conditional request `readVersion` runs before `load`: if the client's version is current, the response is 304.
import { type Cursors, nameList } from "@tributary/kit/lists/cursor";
import { readIdempotencyKey, toReplayHeaders } from "@tributary/kit/idempotency/idempotency-key";
import { type Projection, readPrecondition, writeEtag } from "@tributary/kit/http/etag";
import {
  type ConditionalResponse,
  type Handlers,
  type RestResponse,
  type RestRequest,
  idOf,
} from "@tributary/kit/rest/rest-endpoint";
import type { RepresentationMetadata } from "@tributary/kit/rest/caching";
import { respondWithList, readFilters } from "@tributary/kit/rest/lists";
import { respondToRead } from "@tributary/kit/rest/conditional-read";
import type { OrderActions } from "../actions.ts";
import {
  type NewOrder,
  type Order,
  type OrderLine,
  type OrderState,
  type Product,
  readOrderFilters,
} from "../model.ts";
import { groupsOfProduct, groupsOfProductChanges, groupsOfProductList } from "../groups.ts";
import { withQuantityName, requireEmptyBody } from "./read.ts";
import type { routes } from "./routes.ts";

export interface RestDeps {
  readonly actions: OrderActions;
  readonly cursors: Cursors;
}

export interface RestVersion {
  /** Part of every ETag. */
  readonly orderProjection: Projection;
  readonly productProjection: Projection;
  /** The name of the field with a line's quantity. */
  readonly quantityName: string;
  toOrder(order: Order, lines: readonly OrderLine[]): unknown;
  toProduct(product: Product): unknown;
  /** @throws AppError MALFORMED_REQUEST for an invalid key, BAD_USER_INPUT with every problem. */
  readNewOrder(body: unknown, keyHeader: string | undefined): NewOrder;
}

export function createHandlers(deps: RestDeps, version: RestVersion): Handlers<typeof routes> {
  return { ...createOrderHandlers(deps, version), ...createProductHandlers(deps, version) };
}

type OrderRoute = "placeOrder" | "listOrders" | "listUserOrders" | "getOrder" | "cancelOrder";

interface OrderWithLines extends Order {
  readonly lines: readonly OrderLine[];
}

async function loadLines(actions: OrderActions, orders: readonly Order[]): Promise<OrderWithLines[]> {
  const lines = await actions.findLines(orders.map(({ id }) => id));
  const linesByOrder = Map.groupBy(lines, ({ orderId }) => orderId);
  return orders.map((order) => ({ ...order, lines: linesByOrder.get(order.id) ?? [] }));
}

function createOrderHandlers(
  { actions, cursors }: RestDeps,
  version: RestVersion,
): Pick<Handlers<typeof routes>, OrderRoute> {
  return {
    async placeOrder({ identity, body, header }) {
      const input = () => version.readNewOrder(body, header("idempotency-key"));
      const placed = await withQuantityName(version.quantityName, () => actions.placeOrder(identity, input));
      const { order, lines } = placed.result;
      const location = `/v${version.orderProjection.version}/orders/${order.id}`;
      // A replay invalidates again: the first response may have been lost.
      return {
        ...toResponse(version, order, lines),
        status: 201,
        headers: { Location: location, ...toReplayHeaders(placed.replayed) },
        invalidates: groupsOfProductChanges(lines.map(({ sku }) => sku)),
      };
    },
    async listOrders(request) {
      return respondWithOrders(request, actions.getOwnCustomerId(request.identity));
    },
    async listUserOrders(request) {
      return respondWithOrders(request, actions.getReadableCustomerId(request.identity, idOf(request)));
    },
    async getOrder(request) {
      const id = idOf(request);
      return respondToRead(request, {
        readVersion: async () => toMetadata(version, await actions.getOrderState(request.identity, id)),
        load: async () => {
          const order = await actions.getOrder(request.identity, id);
          return toResponse(version, order, await actions.findLines([order.id]));
        },
      });
    },
    async cancelOrder(request) {
      // If-Match refers to the order: the cancellation itself has no ETag. An optional condition never throws.
      const precondition = readPrecondition(request.header, "optional");
      const validateInput = () => requireEmptyBody(request.body);
      const readKey = () => readIdempotencyKey(request.header("idempotency-key"));
      const options = { precondition, validateInput, readKey };
      const { result: order, replayed } = await actions.cancelOrder(request.identity, idOf(request), options);
      const lines = await actions.findLines([order.id]);
      return {
        ...toResponse(version, order, lines),
        headers: toReplayHeaders(replayed),
        invalidates: groupsOfProductChanges(lines.map(({ sku }) => sku)),
      };
    },
  };

  /** @param customerId from `getOwnCustomerId` or `getReadableCustomerId`, which check that the caller may read their orders. */
  async function respondWithOrders(
    request: RestRequest,
    customerId: string,
  ): Promise<RestResponse | ConditionalResponse> {
    const filters = readFilters(request, readOrderFilters);
    return respondWithList<OrderWithLines>({
      request,
      cursors,
      list: nameList("orders", { customer: customerId, ...filters }),
      projection: version.orderProjection,
      view: "whole",
      audience: "caller",
      groups: [],
      idOf: ({ id }) => id,
      toJson: ({ lines, ...order }) => version.toOrder(order, lines),
      readVersion: (page) => actions.listOrderVersions(customerId, filters, page),
      load: async (page) => {
        const { items: orders, hasNext, hasPrev } = await actions.listOrders(customerId, filters, page);
        return { items: await loadLines(actions, orders), hasNext, hasPrev };
      },
    });
  }
}

function toResponse(version: RestVersion, order: Order, lines: readonly OrderLine[]): RestResponse {
  return { status: 200, body: version.toOrder(order, lines), representation: toMetadata(version, order) };
}

/** One view, because a caller who may read an order sees all of it. No cache groups, because shared caches do not store it. */
function toMetadata({ orderProjection }: RestVersion, { rowVersion }: OrderState): RepresentationMetadata {
  return { etag: writeEtag(rowVersion, orderProjection, "whole"), audience: "caller", groups: [] };
}

/** No permission is needed: products are the same for every caller. */
function createProductHandlers(
  { actions, cursors }: RestDeps,
  { productProjection, toProduct }: RestVersion,
): Omit<Handlers<typeof routes>, OrderRoute> {
  return {
    async listProducts(request) {
      return respondWithList<Product>({
        request,
        cursors,
        list: nameList("products", {}),
        projection: productProjection,
        view: "public",
        audience: "everyone",
        groups: groupsOfProductList,
        idOf: ({ sku }) => sku,
        toJson: toProduct,
        readVersion: (page) => actions.listProductVersions(page),
        load: (page) => actions.listProducts(page),
      });
    },
    async getProduct(request) {
      // `?? ""` is only for the type: the path of the route has `:sku`.
      const sku = request.params["sku"] ?? "";
      return respondToRead(request, {
        missingGroups: groupsOfProduct(sku),
        readVersion: async () => toMetadata(sku, await actions.getProductVersion(sku)),
        load: async () => {
          const product = await actions.getProduct(sku);
          return { status: 200, body: toProduct(product), representation: toMetadata(sku, product.rowVersion) };
        },
      });
    },
  };

  function toMetadata(sku: string, rowVersion: string): RepresentationMetadata {
    const etag = writeEtag(rowVersion, productProjection, "public");
    return { etag, audience: "everyone", groups: groupsOfProduct(sku) };
  }
}
