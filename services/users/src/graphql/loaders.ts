import { createLoaderById } from "@tributary/kit/graphql/loaders";
import type { UserActions } from "../actions.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** They cache what they load, so each request creates its own. */
export function createLoaders(actions: UserActions) {
  return {
    user: createLoaderById(actions.findUsers, (user) => user.id),
  };
}
