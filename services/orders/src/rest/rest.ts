// The REST handlers, one per route of routes.ts. The versions share them; v1.ts and v2.ts have the differences. Authorization is in
// actions.ts. `readVersion` runs before `load`, and only for conditional requests: without a change, the response is 304 and `load` is not
// called.
import { type Cursors, nameList } from "@tributary/kit/lists/cursor";
import { toReplayHeaders } from "@tributary/kit/idempotency/idempotency-key";
import { type Projection, readPrecondition, writeEtag } from "@tributary/kit/http/etag";
import type { ConditionalResponse, Handlers, RestResponse, RestRequest } from "@tributary/kit/rest/rest-endpoint";
import type { RepresentationMetadata } from "@tributary/kit/rest/caching";
import { respondWithList, readFilters } from "@tributary/kit/rest/lists";
import { respondToRead } from "@tributary/kit/rest/conditional-read";
import type { OrderActions } from "../actions.ts";
import { type NewOrder, type Order, type OrderLine, type Product, readOrderFilters } from "../model.ts";
import { groupsOfProduct, groupsOfProductChanges, groupsOfProductList } from "../groups.ts";
import { withQuantityName, requireEmptyBody } from "./read.ts";
import type { routes } from "./routes.ts";

export interface RestDeps {
  readonly actions: OrderActions;
  readonly cursors: Cursors;
}

/** The differences between the versions of the REST endpoint. */
export interface RestVersion {
  readonly orders: Projection;
  readonly products: Projection;
  /** The name of the field with a line's quantity. */
  readonly quantityName: string;
  toOrder(order: Order, lines: readonly OrderLine[]): unknown;
  toProduct(product: Product): unknown;
  /** @throws AppError MALFORMED_REQUEST for an invalid key, BAD_USER_INPUT with every problem. */
  readNewOrder(body: unknown, keyHeader: string | undefined): NewOrder;
}

/** Creates the handlers of one version, once at start. */
export function createHandlers(deps: RestDeps, version: RestVersion): Handlers<typeof routes> {
  return { ...createOrderHandlers(deps, version), ...createProductHandlers(deps, version) };
}

type OrderRoute = "placeOrder" | "listOrders" | "listUserOrders" | "getOrder" | "cancelOrder";

function createOrderHandlers(
  { actions, cursors }: RestDeps,
  version: RestVersion,
): Pick<Handlers<typeof routes>, OrderRoute> {
  return {
    async placeOrder({ identity, body, header }) {
      const input = () => version.readNewOrder(body, header("idempotency-key"));
      const placed = await withQuantityName(version.quantityName, () => actions.placeOrder(identity, input));
      const { order, lines } = placed.result;
      const location = `/v${version.orders.version}/orders/${order.id}`;
      // A replay invalidates again: the first response may have been lost.
      return {
        ...toResponse(order, lines),
        status: 201,
        headers: { Location: location, ...toReplayHeaders(placed.replayed) },
        invalidates: groupsOfProductChanges(lines.map(({ sku }) => sku)),
      };
    },
    async listOrders(request) {
      return list(request, actions.getOwnCustomerId(request.identity));
    },
    async listUserOrders(request) {
      // `?? ""` after a path parameter is only for the type, here and below: the path of the route has the parameter.
      return list(request, actions.getReadableCustomerId(request.identity, request.params["id"] ?? ""));
    },
    async getOrder(request) {
      const id = request.params["id"] ?? "";
      return respondToRead(request, {
        readVersion: async () => toMetadata(await actions.getOrderState(request.identity, id)),
        load: async () => {
          const order = await actions.getOrder(request.identity, id);
          return toResponse(order, await actions.findLines([order.id]));
        },
      });
    },
    async cancelOrder({ identity, params, body, header }) {
      // If-Match refers to the order: the cancellation itself has no ETag. An optional condition never throws, so it is read before authorization.
      const precondition = readPrecondition(header, "optional");
      const validateInput = () => requireEmptyBody(body);
      const order = await actions.cancelOrder(identity, params["id"] ?? "", { precondition, validateInput });
      const lines = await actions.findLines([order.id]);
      return { ...toResponse(order, lines), invalidates: groupsOfProductChanges(lines.map(({ sku }) => sku)) };
    },
  };

  function toResponse(order: Order, lines: readonly OrderLine[]): RestResponse {
    return { status: 200, body: version.toOrder(order, lines), representation: toMetadata(order) };
  }

  /** One view, because a caller who may read an order sees all of it. No cache groups, because shared caches do not store it. */
  function toMetadata({ rowVersion }: Pick<Order, "rowVersion">): RepresentationMetadata {
    return { etag: writeEtag(rowVersion, version.orders, "whole"), audience: "caller", groups: [] };
  }

  /** @param customer from `getOwnCustomerId` or `getReadableCustomerId`, which check that the caller may read their orders. */
  async function list(request: RestRequest, customer: string): Promise<RestResponse | ConditionalResponse> {
    const filters = readFilters(request, readOrderFilters);
    return respondWithList<Order & { readonly lines: readonly OrderLine[] }>({
      request,
      cursors,
      list: nameList("orders", { customer, ...filters }),
      projection: version.orders,
      view: "whole",
      audience: "caller",
      groups: [],
      idOf: ({ id }) => id,
      toJson: ({ lines, ...order }) => version.toOrder(order, lines),
      readVersion: (page) => actions.listOrderVersions(customer, filters, page),
      load: async (page) => {
        const { items, ...neighbours } = await actions.listOrders(customer, filters, page);
        const byOrder = Map.groupBy(await actions.findLines(items.map(({ id }) => id)), ({ orderId }) => orderId);
        return { ...neighbours, items: items.map((order) => ({ ...order, lines: byOrder.get(order.id) ?? [] })) };
      },
    });
  }
}

/** No permission is needed: products are the same for every caller. */
function createProductHandlers(
  { actions, cursors }: RestDeps,
  { products, toProduct }: RestVersion,
): Omit<Handlers<typeof routes>, OrderRoute> {
  return {
    async listProducts(request) {
      return respondWithList<Product>({
        request,
        cursors,
        list: nameList("products", {}),
        projection: products,
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
      const sku = request.params["sku"] ?? "";
      return respondToRead(request, {
        readVersion: async () => toMetadata(sku, await actions.getProductVersion(sku)),
        load: async () => {
          const product = await actions.getProduct(sku);
          return { status: 200, body: toProduct(product), representation: toMetadata(sku, product.rowVersion) };
        },
      });
    },
  };

  function toMetadata(sku: string, rowVersion: string): RepresentationMetadata {
    return { etag: writeEtag(rowVersion, products, "public"), audience: "everyone", groups: groupsOfProduct(sku) };
  }
}
