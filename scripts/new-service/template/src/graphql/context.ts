import type { Cursors } from "@tributary/kit/lists/cursor";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { Actions } from "../actions.ts";
import { createLoaders, type Loaders } from "./loaders.ts";

/** The context argument of every resolver. Each GraphQL request has its own, because it has its own caller and loaders. */
export interface Context {
  /** Anonymous without a token. An invalid token never gets here: the request is rejected with 401 before. */
  readonly identity: Identity;
  readonly actions: Actions;
  /** Signs and reads the cursors of list pages. */
  readonly cursors: Cursors;
  readonly loaders: Loaders;
}

/** Called once at start. The function that it returns is called for each GraphQL request, after its token is verified. */
export function createContextFactory(actions: Actions, cursors: Cursors) {
  return (identity: Identity): Context => ({ identity, actions, cursors, loaders: createLoaders(actions) });
}
