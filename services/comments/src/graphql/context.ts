import type { Cursors } from "@tributary/kit/lists/cursor";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { CommentActions } from "../actions.ts";
import { createLoaders, type Loaders } from "./loaders.ts";

/** One for each GraphQL request, because it has its own caller and loaders. */
export interface Context {
  /** Anonymous without a token; an invalid one is rejected with 401 before. */
  readonly identity: Identity;
  readonly actions: CommentActions;
  readonly cursors: Cursors;
  readonly loaders: Loaders;
}

export function createContextFactory(actions: CommentActions, cursors: Cursors) {
  return (identity: Identity): Context => ({ identity, actions, cursors, loaders: createLoaders(actions) });
}
