// Starts the servers that the cache tests of cache.ts need: the suite's origin, and in front of it one of the two subjects, the caches under test.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { createStandalone } from "../../../../rest-proxy/src/cache/standalone/standalone.ts";
import { endpointKeys, startProcess } from "../../platform/part-process.ts";

/** `cache` is the shared cache alone; `proxy` is the whole REST proxy, with its production settings. */
export type Subject = "cache" | "proxy";

/** Printed before the results: how the subject differs from production. */
export const descriptions: Readonly<Record<Subject, string>> = {
  cache: `The shared cache alone (rest-proxy/src/cache/standalone). Unlike the REST proxy, it obeys the clients' Cache-Control, accepts every
method, and allows heuristic freshness for every response.`,
  proxy: `The REST proxy (rest-proxy/src/main.ts) with PROFILE=production and the default settings. Unlike in production, its only paths are /test/:id and
/test/:id/:file (scripts/verify/checks/cache/routes.json); they allow heuristic freshness, which no route of supergraph/routes.json does; and the
tests are exempt from the rate limit.`,
};

export interface RunningServer {
  /** Base URL, without a slash at the end. */
  readonly url: string;
  stop(): Promise<unknown>;
}

/** @param handler of the suite's origin. */
export function startOrigin(handler: RequestListener): Promise<RunningServer> {
  return listen(handler);
}

/**
 * Starts the subject in front of the origin.
 * @param isControl starts it without a working cache: the origin itself, or a proxy that stores no response.
 */
export async function startSubject(subject: Subject, origin: string, isControl: boolean): Promise<RunningServer> {
  if (subject === "proxy") return startProxy(origin, isControl);
  if (isControl) return { url: origin, stop: async () => {} };
  const standalone = createStandalone({ origin: new URL(origin), nowMs: Date.now });
  const { url, stop } = await listen(standalone.handler);
  return { url, stop: () => Promise.all([standalone.close(), stop()]) };
}

/** Every cache entry counts as more than 2,048 bytes (`toEntry` in rest-proxy/src/cache/entry.ts), so the control's proxy stores no response. */
const controlEnvironment = { CACHE_ENTRY_BYTES_MAX: "1024" };

/** The proxy inherits no environment variable, so all settings but these have their defaults. */
async function startProxy(origin: string, isControl: boolean): Promise<RunningServer> {
  const port = await pickFreePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    PROFILE: "production",
    PORT: String(port),
    ROUTES_FILE: fileURLToPath(new URL("routes.json", import.meta.url)),
    SUITE_URL: origin,
    SUITE_FEED_URL: "none",
    ...endpointKeys,
    RATE_LIMIT_EXEMPT: "127.0.0.0/8",
    TRUSTED_PROXIES: "none",
  };
  const proxy = await startProcess("rest-proxy", url, {
    environment: isControl ? { ...environment, ...controlEnvironment } : environment,
  });
  return { url: `${url}/v1`, stop: () => proxy.end("SIGTERM") };
}

async function listen(handler: RequestListener): Promise<RunningServer> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}
