import { createServiceApp, type ServiceApp, type ServiceParts } from "@tributary/kit/service";
import { createOrderActions } from "./actions.ts";
import { createContext } from "./graphql/context.ts";
import { resolvers } from "./graphql/resolvers.ts";
import { createMoneyFormat } from "./money.ts";
import { createHandlersV1 } from "./rest/rest.ts";
import { routes } from "./rest/routes.ts";
import { createOrderStore } from "./store.ts";

/** The orders service behind its two doors. */
export function createApp(parts: ServiceParts): Promise<ServiceApp> {
  const { database, cursors } = parts;
  const actions = createOrderActions(createOrderStore(database));
  const money = createMoneyFormat();
  return createServiceApp(parts, {
    schema: new URL("../schema.graphql", import.meta.url),
    resolvers,
    createContext: createContext({ actions, cursors, money }),
    routes,
    handlers: { 1: createHandlersV1({ actions, cursors }) },
  });
}
