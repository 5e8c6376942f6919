// Rules about who may do what are in actions.ts. A mutation passes its input as `() => read…(input)`, which is called only after the check of the
// caller's scopes, so UNAUTHENTICATED and FORBIDDEN take precedence over errors in the input.
import { readConnectionRequest, toConnection } from "@tributary/kit/lists/connection";
import { nameList } from "@tributary/kit/lists/cursor";
// BEGIN parent
import { toPage } from "@tributary/kit/lists/keyset";
// END parent
import { readChangedFields, readListFilters, readNewInput } from "../model.ts";
import type { Resolvers } from "./schema-types.ts";

export const resolvers: Resolvers = {
  Query: {
    spareGadget: (_, { id }, { loaders }) => loaders.byId.load(id),
    spareGadgets: async (_, { first, after, ...rest }, { actions, cursors }) => {
      const filters = readListFilters(rest);
      const list = nameList("spare-gadgets", { ...filters });
      const request = readConnectionRequest({ first, after }, cursors, list);
      const page = await actions.list(filters, request);
      return toConnection(page, cursors, list, ({ id }) => id);
    },
  },
  SpareGadget: {
    __resolveReference: ({ id }, { loaders }) => loaders.byId.load(id),
    // BEGIN parent
    parentThing: ({ parentThingId }) => ({ id: parentThingId }),
    // END parent
    author: ({ authorId }) => ({ id: authorId }),
  },
  // BEGIN parent
  ParentThing: {
    __resolveReference: ({ id }) => ({ id }),
    spareGadgets: async ({ id }, args, { cursors, loaders }) => {
      // Another name than that of Query.spareGadgets: REST writes backward cursors for that list, and this field does not support them.
      const list = nameList("ParentThing.spareGadgets", { id });
      const request = readConnectionRequest(args, cursors, list);
      // One more than the page: its presence means that there is a next page.
      const onePageAndNext = { parentThingId: id, limit: request.limit + 1, afterId: request.position?.id ?? null };
      const rows = await loaders.pagesOfParents.load(onePageAndNext);
      return toConnection(toPage(rows, request), cursors, list, (row) => row.id);
    },
  },
  // END parent
  Mutation: {
    createSpareGadget: async (_, { input }, { identity, actions, loaders }) => {
      // `input` includes the idempotency key, which REST has in a header.
      const { result } = await actions.create(identity, () => readNewInput(input));
      loaders.clearAll();
      return { spareGadget: result };
    },
    changeSpareGadget: async (_, { input: { id, ...changes } }, { identity, actions, loaders }) => {
      const changed = await actions.change(identity, id, () => readChangedFields(changes));
      loaders.clearAll();
      return { spareGadget: changed };
    },
    deleteSpareGadget: async (_, { input: { id } }, { identity, actions, loaders }) => {
      const deleted = await actions.delete(identity, id);
      loaders.clearAll();
      return { id: deleted.id };
    },
  },
};
