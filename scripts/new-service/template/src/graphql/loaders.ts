// BEGIN parent
import { createLoaderById, createLoaderByKey } from "@tributary/kit/graphql/loaders";
// END parent
// ALONE import { createLoaderById } from "@tributary/kit/graphql/loaders";
import type { Actions } from "../actions.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** They cache what they load, so each request creates its own. */
export function createLoaders(actions: Actions) {
  const loaders = {
    byId: createLoaderById(actions.findByIds, ({ id }) => id),
    // BEGIN parent
    pagesOfParents: createLoaderByKey(actions.listPagesOfParents),
    // END parent
  };

  return {
    ...loaders,

    /** Each mutation calls this after its action: a later mutation of the same operation must not read values from before. */
    clearAll(): void {
      for (const loader of Object.values(loaders)) loader.clearAll();
    },
  };
}
