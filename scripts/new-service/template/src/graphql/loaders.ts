// BEGIN parent
import { createLoaderById, createLoaderByKey, withClearAll } from "@tributary/kit/graphql/loaders";
// END parent
// ALONE import { createLoaderById, withClearAll } from "@tributary/kit/graphql/loaders";
import type { Actions } from "../actions.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** They cache what they load, so each request creates its own. */
export function createLoaders(actions: Actions) {
  return withClearAll({
    byId: createLoaderById(actions.findByIds, ({ id }) => id),
    // BEGIN parent
    pagesOfParents: createLoaderByKey(actions.listPagesOfParents),
    // END parent
  });
}
