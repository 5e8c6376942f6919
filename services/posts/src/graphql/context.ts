import type { Cursors } from "@tributary/kit/lists/cursor";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { PostActions } from "../actions.ts";
import { createLoaders, type Loaders } from "./loaders.ts";

/** The context argument of every resolver, created for each request. */
export interface Context {
  readonly identity: Identity;
  readonly actions: PostActions;
  readonly cursors: Cursors;
  readonly loaders: Loaders;
}

export function createContext(actions: PostActions, cursors: Cursors) {
  return (identity: Identity): Context => ({ identity, actions, cursors, loaders: createLoaders(actions, identity) });
}
