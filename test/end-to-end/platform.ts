import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startServer } from "../../kit/src/process/lifecycle.ts";
import { silentLog } from "../../kit/src/process/log.ts";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { startTestService, type TestService } from "../../kit/src/testing/service.ts";
import { type SendOptions, type GraphqlResponse, startGateway } from "../../gateway/test/helpers/gateway.ts";
import { observeGateway, observeProxy } from "./observers.ts";
import type { ProxyObservers } from "../../rest-proxy/src/telemetry/proxy-telemetry.ts";
import { readConfig as readProxyConfig } from "../../rest-proxy/src/config.ts";
import { loadDocuments } from "../../rest-proxy/src/documents/load.ts";
import { createRouteTable } from "../../rest-proxy/src/route/route-table.ts";
import { loadRoutes } from "../../rest-proxy/src/route/routes.ts";
import { createRestProxy } from "../../rest-proxy/src/server.ts";
import { truncateAndSeed } from "../../scripts/seed/seed.ts";
import { toVariablePrefix } from "../../supergraph/services.ts";
import { defaultScopes, loadApps } from "../services.ts";
import { createTestTelemetry } from "../../kit/src/testing/telemetry.ts";
import type { SpanCollector } from "../../kit/src/testing/trace.ts";

export const gatewaySettingsFile = fileURLToPath(new URL("../../supergraph/gateway.yaml", import.meta.url));

/** The services that these tests name. Further services run too. */
export type ServiceName = "users" | "posts" | "comments" | "orders";

export interface Platform {
  readonly issuer: TestIssuer;
  readonly services: Readonly<Record<ServiceName, TestService>>;
  readonly gatewayUrl: string;
  readonly proxyUrl: string;
  graphql(query: string, o?: SendOptions & { readonly token?: string }): Promise<GraphqlResponse>;
  rest(method: string, path: string, o?: RestOptions): Promise<RestResponse>;
  /** A token of the user with the given scopes, or the default ones. */
  tokenOf(userId: string, scopes?: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

interface RestOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface RestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies of every shape
  readonly body: any;
}

/**
 * Starts the whole platform in this process: servers on free ports, seeded databases and the committed supergraph.
 * @param collector receives all spans; without it, telemetry is off
 * @param postgresUrls database clusters of single services; the others use `postgresUrl`
 * @param endpointVariables of the gateway and the REST proxy
 */
export async function startPlatform(
  postgresUrl: string,
  collector?: SpanCollector,
  postgresUrls: Readonly<Record<string, string>> = {},
  endpointVariables: Readonly<Record<string, string>> = {},
): Promise<Platform> {
  const issuer = await startTestIssuer();
  const started = await Promise.all(
    (await loadApps()).map(async ([name, createApp]) => {
      const migrations = new URL(`../../services/${name}/migrations`, import.meta.url);
      const telemetry = collector && (await createTestTelemetry(name, collector));
      const clusterUrl = postgresUrls[name] ?? postgresUrl;
      return [name, await startTestService(clusterUrl, migrations, createApp, issuer, telemetry)] as const;
    }),
  );
  const services = Object.fromEntries(started) as Record<ServiceName, TestService>;
  const urls = Object.fromEntries(started.map(([name, { database }]) => [name, database.url]));
  await truncateAndSeed({ urls, scale: 1, progress: () => {} });
  const gateway = await startGateway({
    supergraphSdl: readFileSync(new URL("../../supergraph/supergraph.graphql", import.meta.url), "utf8"),
    environment: {
      SETTINGS_FILE: gatewaySettingsFile,
      ...endpointVariables,
      ...Object.fromEntries(
        started.map(([name, { url }]) => [`SUBGRAPH_URL_${toVariablePrefix(name)}`, `${url}/graphql`]),
      ),
    },
    observers: collector && (await observeGateway(collector)),
  });
  const proxy = await startProxy(
    {
      ...endpointVariables,
      ...Object.fromEntries(started.map(([name, { url }]) => [`${toVariablePrefix(name)}_URL`, url])),
    },
    collector && (await observeProxy(collector)),
  );

  return {
    issuer,
    services,
    gatewayUrl: gateway.url,
    proxyUrl: proxy.url,
    graphql: (query, { token, ...o } = {}) =>
      gateway.send(query, { ...o, headers: { ...o.headers, ...bearer(token) } }),
    rest: (method, path, o) => request(proxy.url, method, path, o),
    tokenOf: (userId, scopes = defaultScopes) => issuer.token(userId, scopes),
    async stop() {
      await Promise.all([gateway.drain(), proxy.drain()]);
      await Promise.all(Object.values(services).map((service) => service.stop()));
      await issuer.stop();
    },
  };
}

async function startProxy(addresses: Readonly<Record<string, string>>, observers: ProxyObservers = {}) {
  const routesFile = new URL("../../supergraph/routes.json", import.meta.url).pathname;
  const table = createRouteTable(loadRoutes(routesFile));
  const retirements = { DEPRECATED_VERSIONS: "1=-30d", SUNSET_VERSIONS: "1=+180d" };
  const config = readProxyConfig({ ...addresses, ...retirements, ROUTES_FILE: routesFile, PORT: "0" }, table.services);
  const proxy = createRestProxy({
    config,
    table,
    documents: loadDocuments(config.openApiFolder),
    observe: () => {},
    observers,
  });
  return startServer({
    ...config,
    ...proxy,
    name: "rest-proxy",
    log: silentLog,
    isReady: () => true,
    close: async () => proxy.close(),
  });
}

async function request(url: string, method: string, path: string, o: RestOptions = {}): Promise<RestResponse> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(url + path, {
    method,
    headers: { ...(o.body === undefined ? {} : { "content-type": type }), ...bearer(o.token), ...o.headers },
    ...(o.body === undefined ? {} : { body: typeof o.body === "string" ? o.body : JSON.stringify(o.body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
