import type { Cursors } from "@tributary/kit/lists/cursor";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { OrderActions } from "../actions.ts";
import type { MoneyFormat } from "../money.ts";
import { createLoaders, type Loaders } from "./loaders.ts";

interface ContextParts {
  readonly actions: OrderActions;
  readonly cursors: Cursors;
  /** Formats amounts for `Money.display`. One for the process, because its formatters are expensive to create. */
  readonly moneyFormat: MoneyFormat;
}

/** One for each GraphQL request, because it has its own caller and loaders. */
export interface Context extends ContextParts {
  /** Anonymous without a token; an invalid one is rejected with 401 before. */
  readonly identity: Identity;
  readonly loaders: Loaders;
}

export function createContextFactory({ actions, cursors, moneyFormat }: ContextParts) {
  return (identity: Identity): Context => ({
    identity,
    actions,
    cursors,
    moneyFormat,
    // Not every loader checks permissions: loaders.ts says which.
    loaders: createLoaders(actions, identity),
  });
}
