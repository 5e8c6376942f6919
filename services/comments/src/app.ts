import { createServiceApp, type ServiceApp, type ServiceParts } from "@tributary/kit/service/service";
import { createCommentActions } from "./actions.ts";
import { createLoaders } from "./graphql/loaders.ts";
import { resolvers } from "./graphql/resolvers.ts";
import { caching } from "./groups.ts";
import { createHandlers } from "./rest/rest.ts";
import { routes } from "./rest/routes.ts";
import { version1 } from "./rest/v1.ts";
import { version2 } from "./rest/v2.ts";
import { createCommentStore } from "./store.ts";

export interface CommentsParts extends ServiceParts {
  /** Milliseconds since 1970; `Date.now` by default, which tests replace. */
  readonly clock?: () => number;
}

export function createApp(parts: CommentsParts): Promise<ServiceApp> {
  const { database, cursors, clock = Date.now } = parts;
  const actions = createCommentActions({ store: createCommentStore(database), clock });
  const rest = { actions, cursors };
  return createServiceApp(parts, {
    schema: new URL("../schema.graphql", import.meta.url),
    resolvers,
    createContext: (identity) => ({ identity, actions, cursors, loaders: createLoaders(actions) }),
    routes,
    caching,
    handlers: { 1: createHandlers(rest, version1), 2: createHandlers(rest, version2) },
  });
}
