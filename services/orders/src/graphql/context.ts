import type { Cursors } from "@tributary/kit/lists/cursor";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { OrderActions } from "../actions.ts";
import type { MoneyFormat } from "../money.ts";
import { createLoaders, type Loaders } from "./loaders.ts";

interface ContextParts {
  readonly actions: OrderActions;
  /** Signs and reads the cursors of list pages. */
  readonly cursors: Cursors;
  /** Formats amounts for `Money.display`. One for the process, because its formatters are expensive to create. */
  readonly moneyFormat: MoneyFormat;
}

/** The context argument of every resolver. Each GraphQL request has its own, because it has its own caller and loaders. */
export interface Context extends ContextParts {
  /** Anonymous without a token. An invalid token never gets here: the request is rejected with 401 before. */
  readonly identity: Identity;
  readonly loaders: Loaders;
}

/** Called once at start. The function that it returns is called for each GraphQL request, after its token is verified. */
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
