import { createServiceApp, type ServiceApp, type ServiceParts } from "@tributary/kit/service/service";
import { createActions } from "./actions.ts";
import { createLoaders } from "./graphql/loaders.ts";
import { resolvers } from "./graphql/resolvers.ts";
import { caching } from "./groups.ts";
import { createHandlers } from "./rest/rest.ts";
import { routes } from "./rest/routes.ts";
import { version1, version2 } from "./rest/versions.ts";
import { createStore } from "./store.ts";

export function createApp(parts: ServiceParts): Promise<ServiceApp> {
  const { database, cursors } = parts;
  const actions = createActions(createStore(database));
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
