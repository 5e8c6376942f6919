import { readFile } from "node:fs/promises";
import { createRestDoor } from "@tributary/kit/rest";
import { createServiceApp, type ServiceApp, type ServiceParts } from "@tributary/kit/service";
import { createSubgraphDoor } from "@tributary/kit/subgraph";
import { createPostActions } from "./actions.ts";
import { createContext } from "./graphql/context.ts";
import { resolvers } from "./graphql/resolvers.ts";
import { createHandlersV1 } from "./rest/rest.ts";
import { routes } from "./rest/routes.ts";
import { createPostStore } from "./store.ts";

/** The posts service behind its two doors. */
export async function createApp({ database, authenticate, cursors, log }: ServiceParts): Promise<ServiceApp> {
  const actions = createPostActions(createPostStore(database));
  const typeDefs = await readFile(new URL("../schema.graphql", import.meta.url), "utf8");
  const graphql = await createSubgraphDoor({
    typeDefs,
    resolvers,
    authenticate,
    createContext: createContext(actions, cursors),
    log,
  });
  const handlers = createHandlersV1({ actions, cursors });
  return createServiceApp({
    graphql,
    rest: { 1: createRestDoor({ version: 1, routes, handlers, authenticate, log }) },
  });
}
