// Starts the servers that the cache tests of cache.ts need: the suite's origin, and in front of it one of the two subjects, the caches under test.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { createRouteTable } from "../../../../rest-proxy/src/route/route-table.ts";
import { loadRoutes } from "../../../../rest-proxy/src/route/routes.ts";
import { createStandalone } from "../../../../rest-proxy/src/cache/test/standalone/standalone.ts";
import { restProxyVariables } from "../../../start/environments.ts";
import { endpointKeys, startProcess } from "../../platform/part-process.ts";

/**
 * `cache` is the shared cache alone; `proxy` is the whole REST proxy, with its production settings and routes that the tests need; `product` is the
 * same with the routes of the product: the tests read and delete comments.
 */
export type Subject = "cache" | "proxy" | "product";

interface RunningServer {
  /** Base URL, without a slash at the end. */
  readonly url: string;
  stop(): Promise<unknown>;
}

/**
 * Starts the subject in front of the origin.
 * @param isControl starts it without a working cache: the origin itself, or a proxy that stores no response.
 */
export async function startSubject(subject: Subject, origin: string, isControl: boolean): Promise<RunningSubject> {
  if (subject !== "cache") return startProxy(subject, origin, isControl);
  if (isControl) return { url: origin, testPath: `${origin}/test`, stop: async () => {} };
  const standalone = createStandalone({ origin: new URL(origin), nowMs: Date.now });
  const { url, stop } = await startOrigin(standalone.handler);
  return { url, testPath: `${url}/test`, stop: () => Promise.all([standalone.close(), stop()]) };
}

interface RunningSubject extends RunningServer {
  readonly testPath: string;
}

/** `routesFile`: from this folder. */
const proxies = {
  proxy: { routesFile: "routes.json", testPath: "/v1/test" },
  product: { routesFile: "../../../../supergraph/routes.json", testPath: "/v2/comments" },
};

/** Every cache entry counts as more than 2,048 bytes (`toEntry` in rest-proxy/src/cache/entry.ts), so the control's proxy stores no response. */
const controlEnvironment = { CACHE_ENTRY_BYTES_MAX: "1024" };

/** The proxy inherits no environment variable, so all settings but these have their defaults. */
async function startProxy(subject: keyof typeof proxies, origin: string, isControl: boolean): Promise<RunningSubject> {
  const { testPath } = proxies[subject];
  const routesFile = join(import.meta.dirname, proxies[subject].routesFile);
  const { services } = createRouteTable(loadRoutes(routesFile));
  const addresses = services.map((name) => ({ name, restUrl: origin, graphqlUrl: origin, feedUrl: undefined }));
  const port = await pickFreePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    PROFILE: "production",
    PORT: String(port),
    ROUTES_FILE: routesFile,
    ...restProxyVariables(addresses),
    ...endpointKeys,
    RATE_LIMIT_EXEMPT: "127.0.0.0/8",
    TRUSTED_PROXIES: "none",
  };
  const proxy = await startProcess("rest-proxy", url, {
    environment: isControl ? { ...environment, ...controlEnvironment } : environment,
  });
  return { url, testPath: url + testPath, stop: () => proxy.end("SIGTERM") };
}

export async function startOrigin(handler: RequestListener): Promise<RunningServer> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}
