import { readFile } from "node:fs/promises";
import { createRestDoor } from "@tributary/kit/rest";
import { createServiceApp, type ServiceApp, type ServiceParts } from "@tributary/kit/service";
import { createSubgraphDoor } from "@tributary/kit/subgraph";
import { createOrderActions } from "./actions.ts";
import { createContext } from "./graphql/context.ts";
import { resolvers } from "./graphql/resolvers.ts";
import { createMoneyFormat } from "./money.ts";
import { createHandlersV1 } from "./rest/rest.ts";
import { routes } from "./rest/routes.ts";
import { createOrderStore } from "./store.ts";

/** The orders service behind its two doors. */
export async function createApp({ database, authenticate, cursors, log }: ServiceParts): Promise<ServiceApp> {
  const actions = createOrderActions(createOrderStore(database));
  const money = createMoneyFormat();
  const typeDefs = await readFile(new URL("../schema.graphql", import.meta.url), "utf8");
  const graphql = await createSubgraphDoor({
    typeDefs,
    resolvers,
    authenticate,
    createContext: createContext({ actions, cursors, money }),
    log,
  });
  const handlers = createHandlersV1({ actions, cursors });
  return createServiceApp({
    graphql,
    rest: { 1: createRestDoor({ version: 1, routes, handlers, authenticate, log }) },
  });
}
