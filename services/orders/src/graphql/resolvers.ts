import { readConnectionRequest, readFirst, toConnection } from "@tributary/kit/lists/connection";
import { nameList } from "@tributary/kit/lists/cursor";
import { readNewOrder, readOrderFilters } from "../model.ts";
import type { Resolvers } from "./schema-types.ts";

export const resolvers: Resolvers = {
  Query: {
    order: (_, { id }, { loaders }) => loaders.order.load(id),
    orders: async (_, { first, after, ...rest }, { identity, actions, cursors }) => {
      const customer = actions.requireReader(identity);
      const filters = readOrderFilters(rest);
      const list = nameList("orders", { customer, ...filters });
      const page = await actions.listOrders(customer, filters, readConnectionRequest({ first, after }, cursors, list));
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
    orders: ({ id }, { first, after }, { identity, actions, loaders }) => {
      const customerId = actions.requireReaderOf(identity, id);
      return loaders.ordersOfUser.load({ customerId, limit: readFirst(first), after: after ?? undefined });
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
    display: (amount, _, { money }) => money.display(amount),
  },
  Mutation: {
    placeOrder: async (_, { input }, { identity, actions, loaders }) => ({
      order: loaders.primeWith(await actions.placeOrder(identity, () => readNewOrder(input))),
    }),
    cancelOrder: async (_, { input: { id } }, { identity, actions, loaders }) => ({
      order: loaders.clearAfter(await actions.cancelOrder(identity, id)),
    }),
    advanceOrder: async (_, { input: { id, to } }, { identity, actions, loaders }) => ({
      order: loaders.clearAfter(await actions.advanceOrder(identity, id, to)),
    }),
  },
};
