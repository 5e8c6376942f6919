import { createServiceApp, type ServiceApp, type ServiceParts } from "@tributary/kit/service/service";
import { createOrderActions } from "./actions.ts";
import { createLoaders } from "./graphql/loaders.ts";
import { resolvers } from "./graphql/resolvers.ts";
import { caching } from "./groups.ts";
import { createMoneyFormat } from "./money.ts";
import { createHandlers } from "./rest/rest.ts";
import { routes } from "./rest/routes.ts";
import { version1 } from "./rest/v1.ts";
import { version2 } from "./rest/v2.ts";
import { createOrderStore } from "./store.ts";

export function createApp(parts: ServiceParts): Promise<ServiceApp> {
  const { database, cursors } = parts;
  const actions = createOrderActions(createOrderStore(database));
  const moneyFormat = createMoneyFormat();
  const rest = { actions, cursors };
  return createServiceApp(parts, {
    schema: new URL("../schema.graphql", import.meta.url),
    resolvers,
    createContext: (identity) => ({
      identity,
      actions,
      cursors,
      moneyFormat,
      loaders: createLoaders(actions, identity),
    }),
    routes,
    caching,
    handlers: { 1: createHandlers(rest, version1), 2: createHandlers(rest, version2) },
  });
}
