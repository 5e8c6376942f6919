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

/** What a resolver may reach: who calls, the actions, and this request's loaders. */
export interface Context extends ContextParts {
  readonly identity: Identity;
  readonly loaders: Loaders;
}

export function createContext(parts: ContextParts) {
  return (identity: Identity): Context => ({ ...parts, identity, loaders: createLoaders(parts.actions, identity) });
}
