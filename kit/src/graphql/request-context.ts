import type { Identity } from "../identity/tokens.ts";
import type { Cursors } from "../lists/cursor.ts";

/** Of each resolver of a service. One for each request, because it has its own caller and loaders. */
export interface RequestContext<Actions, Loaders> {
  /** Anonymous without a token; an invalid one is rejected with 401 before. */
  readonly identity: Identity;
  readonly actions: Actions;
  readonly cursors: Cursors;
  readonly loaders: Loaders;
}
