import { startServer } from "../../kit/src/process/lifecycle.ts";
import { silentLog } from "../../kit/src/process/log.ts";
import { readConfig } from "../../rest-proxy/src/config.ts";
import { createRouteTable } from "../../rest-proxy/src/route/route-table.ts";
import { loadRoutes } from "../../rest-proxy/src/route/routes.ts";
import { createRestProxy } from "../../rest-proxy/src/server.ts";
import { toVariablePrefix } from "../../supergraph/services.ts";

const routesFile = new URL("../../supergraph/routes.json", import.meta.url).pathname;

export interface RunningRestProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the proxy with its default configuration and the committed routes. `addresses` has the services' URLs by name. */
export async function startRestProxy(
  addresses: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
  observe: (observation: { readonly kind: string }) => void = () => {},
): Promise<RunningRestProxy> {
  const table = createRouteTable(loadRoutes(routesFile));
  const serviceUrls = Object.entries(addresses).map(([name, url]) => [`${toVariablePrefix(name)}_URL`, url]);
  const config = readConfig(
    { ROUTES_FILE: routesFile, PORT: "0", SHUTDOWN_GRACE_MS: "0", ...Object.fromEntries(serviceUrls), ...environment },
    table.services,
  );
  const proxy = createRestProxy({ config, table, documents: new Map(), observe });
  const server = await startServer({
    ...config,
    name: "rest-proxy",
    handler: proxy.handler,
    prepare: proxy.prepare,
    incompleteRequests: proxy.incompleteRequests,
    log: silentLog,
    isReady: () => true,
    close: () => proxy.close(),
  });
  return { url: server.url, close: () => server.drain() };
}
