import type { Cursors } from "@tributary/kit/lists/cursor";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { OrderActions } from "../actions.ts";
import type { MoneyFormat } from "../money.ts";
import { createLoaders, type Loaders } from "./loaders.ts";

interface ContextParts {
  readonly actions: OrderActions;
  readonly cursors: Cursors;
  readonly money: MoneyFormat;
}

/** The context argument of every resolver, created for each request. */
export interface Context extends ContextParts {
  readonly identity: Identity;
  readonly loaders: Loaders;
}

export function createContext(parts: ContextParts) {
  return (identity: Identity): Context => ({ ...parts, identity, loaders: createLoaders(parts.actions, identity) });
}
