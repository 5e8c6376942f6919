import type { Cursors } from "@tributary/kit/lists/cursor";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { CommentActions } from "../actions.ts";
import { createLoaders, type Loaders } from "./loaders.ts";

/** The context argument of every resolver, created for each request. */
export interface Context {
  readonly identity: Identity;
  readonly actions: CommentActions;
  readonly cursors: Cursors;
  readonly loaders: Loaders;
}

export function createContext(actions: CommentActions, cursors: Cursors) {
  return (identity: Identity): Context => ({ identity, actions, cursors, loaders: createLoaders(actions) });
}
