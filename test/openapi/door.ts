import { startServer } from "../../kit/src/process/lifecycle.ts";
import { silentLog } from "../../kit/src/process/log.ts";
import { readConfig } from "../../rest-proxy/src/config.ts";
import { createRouteTable } from "../../rest-proxy/src/route/route-table.ts";
import { loadRoutes } from "../../rest-proxy/src/route/routes.ts";
import { createRestProxy } from "../../rest-proxy/src/server.ts";

const routesFile = new URL("../../supergraph/routes.json", import.meta.url).pathname;

export interface Door {
  readonly url: string;
  close(): Promise<void>;
}

/** The proxy as its main.ts runs it, over the committed routes; `addresses` of the services, by name. */
export async function openDoor(
  addresses: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Door> {
  const table = createRouteTable(loadRoutes(routesFile));
  const named = Object.entries(addresses).map(([name, url]) => [`${name.toUpperCase()}_URL`, url]);
  const config = readConfig(
    { ROUTES_FILE: routesFile, PORT: "0", SHUTDOWN_GRACE_MS: "0", ...Object.fromEntries(named), ...environment },
    table.services,
  );
  const proxy = createRestProxy({ ...config, table, documents: new Map(), observe: () => {} });
  const server = await startServer({
    ...config,
    name: "rest-proxy",
    handler: proxy.handler,
    prepare: proxy.prepare,
    log: silentLog,
    isReady: () => true,
    close: () => proxy.close(),
  });
  return { url: server.url, close: () => server.drain() };
}
