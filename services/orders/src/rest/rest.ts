import { type Cursors, nameList } from "@tributary/kit/cursor";
import { AppError } from "@tributary/kit/errors";
import { writeEtag } from "@tributary/kit/etag";
import type { RestAnswer, Handlers, RestRequest } from "@tributary/kit/rest";
import { readPageRequest, writeList } from "@tributary/kit/rest-lists";
import type { OrderActions } from "../actions.ts";
import { type Order, type OrderLine, readOrderFilters } from "../model.ts";
import { inWordsOfV1, readNewOrderV1, readNothing } from "./read.ts";
import type { routes } from "./routes.ts";
import { toOrderV1, toProductV1 } from "./v1.ts";

export interface RestDeps {
  readonly actions: OrderActions;
  readonly cursors: Cursors;
}

/** Version 1 of the orders' REST door: read, act, answer. */
export function createHandlersV1({ actions, cursors }: RestDeps): Handlers<typeof routes> {
  return {
    async placeOrder({ identity, body, header }) {
      const { order, lines, replayed } = await inWordsOfV1(() =>
        actions.placeOrder(identity, () => readNewOrderV1(body, header("idempotency-key"))),
      );
      const location = { Location: `/v1/orders/${order.id}` };
      return answer(order, lines, 201, replayed ? { ...location, "Idempotency-Replayed": "true" } : location);
    },
    async listOrders(request) {
      return listOrdersOf(actions.requireReader(request.identity), request);
    },
    async listUserOrders(request) {
      return listOrdersOf(actions.requireReaderOf(request.identity, request.params["id"] ?? ""), request);
    },
    async getOrder({ identity, params }) {
      const order = requireFound((await actions.findOrders(identity, [params["id"] ?? ""]))[0]);
      return answer(order, await actions.findLines([order.id]));
    },
    async cancelOrder({ identity, params, body }) {
      const order = await actions.cancelOrder(identity, params["id"] ?? "", () => readNothing(body));
      return answer(order, await actions.findLines([order.id]));
    },
    async listProducts(request) {
      const list = nameList("products", {});
      const page = await actions.listProducts(readPageRequest(request.query, cursors, list));
      return writeList({ request, cursors, list, page, idOf: ({ sku }) => sku, toJson: toProductV1 });
    },
    async getProduct({ params }) {
      const product = requireFound((await actions.findProducts([params["sku"] ?? ""]))[0]);
      return {
        status: 200,
        headers: { ETag: writeEtag(product.rowVersion, "v1", "public") },
        body: toProductV1(product),
      };
    },
  };

  async function listOrdersOf(customer: string, request: RestRequest): Promise<RestAnswer> {
    const { limit: _limit, cursor: _cursor, ...rest } = request.query;
    const filters = readOrderFilters(rest);
    const list = nameList("orders", { customer, ...filters });
    const page = await actions.listOrders(customer, filters, readPageRequest(request.query, cursors, list));
    const lines = Map.groupBy(await actions.findLines(page.items.map(({ id }) => id)), ({ orderId }) => orderId);
    const toJson = (order: Order) => toOrderV1(order, lines.get(order.id) ?? []);
    return writeList({ request, cursors, list, page, idOf: ({ id }) => id, toJson });
  }
}

/** Whoever may see an order sees all of it: one view. */
function answer(
  order: Order,
  lines: readonly OrderLine[],
  status = 200,
  headers: Record<string, string> = {},
): RestAnswer {
  const etag = writeEtag(order.rowVersion, "v1", "whole");
  return { status, headers: { ETag: etag, ...headers }, body: toOrderV1(order, lines) };
}

function requireFound<T>(found: T | undefined): T {
  if (found !== undefined) return found;
  throw new AppError("NOT_FOUND", "There is no such thing, or not for you.");
}
