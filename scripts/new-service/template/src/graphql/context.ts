import type { Cursors } from "@tributary/kit/lists/cursor";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { Actions } from "../actions.ts";
import { createLoaders, type Loaders } from "./loaders.ts";

export interface Context {
  /** Anonymous without a token. An invalid token never gets here: the request is rejected with 401 before. */
  readonly identity: Identity;
  readonly actions: Actions;
  readonly cursors: Cursors;
  readonly loaders: Loaders;
}

/** The returned function is called for each GraphQL request, after its token is verified. */
export function createContextFactory(actions: Actions, cursors: Cursors) {
  return (identity: Identity): Context => ({ identity, actions, cursors, loaders: createLoaders(actions) });
}
