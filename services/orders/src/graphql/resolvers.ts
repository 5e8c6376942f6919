// Input is a function that an action calls only after the scope check, so UNAUTHENTICATED and FORBIDDEN take precedence over its errors.
import { readConnectionRequest, readFirst, toConnection } from "@tributary/kit/lists/connection";
import { nameList } from "@tributary/kit/lists/cursor";
import { readCancellationKey, readNewOrder, readOrderFilters } from "../model.ts";
import type { Resolvers } from "./schema-types.ts";

export const resolvers: Resolvers = {
  Query: {
    order: (_, { id }, { loaders }) => loaders.order.load(id),
    // `after` is a signed cursor here and in Query.products.
    orders: async (_, { first, after, ...rest }, { identity, actions, cursors }) => {
      const customerId = actions.getOwnCustomerId(identity);
      const filters = readOrderFilters(rest);
      const list = nameList("orders", { customer: customerId, ...filters });
      const request = readConnectionRequest({ first, after }, cursors, list);
      const page = await actions.listOrders(customerId, filters, request);
      return toConnection(page, cursors, list, (order) => order.id);
    },
    product: (_, { sku }, { loaders }) => loaders.product.load(sku),
    products: async (_, { first, after }, { actions, cursors }) => {
      const list = nameList("products", {});
      const page = await actions.listProducts(readConnectionRequest({ first, after }, cursors, list));
      return toConnection(page, cursors, list, (product) => product.sku);
    },
  },
  User: {
    __resolveReference: ({ id }) => ({ id }),
    // `after` is an order id here, not a cursor: this field is a plain list, not a connection.
    orders: ({ id }, { first, after }, { identity, actions, loaders }) => {
      const customerId = actions.getReadableCustomerId(identity, id);
      return loaders.ordersOfUser.load({ customerId, limit: readFirst(first), after: after || undefined });
    },
  },
  Order: {
    __resolveReference: ({ id }, { loaders }) => loaders.order.load(id),
    customer: ({ customerId }) => ({ id: customerId }),
    lines: ({ id }, _, { loaders }) => loaders.lines.load(id),
    total: ({ totalMinor, currency }) => ({ amountMinor: totalMinor, currency }),
  },
  OrderLine: {
    product: ({ sku }, _, { loaders }) => loaders.product.load(sku),
    unitPrice: ({ unitPriceMinor, currency }) => ({ amountMinor: unitPriceMinor, currency }),
  },
  Product: {
    __resolveReference: ({ sku }, { loaders }) => loaders.product.load(sku),
    price: ({ priceMinor, currency }) => ({ amountMinor: priceMinor, currency }),
    post: ({ postId }) => (postId === null ? null : { id: postId }),
  },
  Money: {
    display: (amount, _, { moneyFormat }) => moneyFormat.display(amount),
  },
  Mutation: {
    placeOrder: async (_, { input }, { identity, actions, loaders }) => {
      const { result } = await actions.placeOrder(identity, () => readNewOrder(input));
      loaders.clearAll();
      loaders.primePlaced(result);
      return { order: result.order };
    },
    cancelOrder: async (_, { input }, { identity, actions, loaders }) => {
      const readKey = () => readCancellationKey(input);
      const { result } = await actions.cancelOrder(identity, input.id, { readKey });
      loaders.clearAll();
      return { order: result };
    },
    advanceOrder: async (_, { input: { id, to } }, { identity, actions, loaders }) => {
      const order = await actions.advanceOrder(identity, id, to);
      loaders.clearAll();
      return { order };
    },
  },
};
