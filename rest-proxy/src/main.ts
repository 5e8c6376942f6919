import { startServer } from "@tributary/kit/process/lifecycle";
import { warnOfMisspeltVariables } from "@tributary/kit/process/misspelt-variables";
import { runMain, stopOnSignals } from "@tributary/kit/process/main";
import manifest from "../package.json" with { type: "json" };
import { readConfig, readRoutesFilePath } from "./config.ts";
import { loadChanges, loadDocuments } from "./documents/load.ts";
import { createRouteTable } from "./route/route-table.ts";
import { loadRoutes } from "./route/routes.ts";
import { createRestProxy } from "./server.ts";
import { createProxyTelemetry } from "./telemetry/proxy-telemetry.ts";

const usage = `Usage: tributary-rest-proxy

Serves the routes of ROUTES_FILE (supergraph/routes.json) on PORT (4010), configured by environment variables (README.md).
The address of each service is required: THINGS_URL for the service "things".

  --version   prints the version
  --help      prints this
`;

await runMain(serve, { "--version": () => `${manifest.version}\n`, "--help": () => usage });

/** Reads routes and configuration, assembles the proxy and its telemetry, and listens until SIGTERM. */
async function serve(): Promise<void> {
  const environment = { BUILD_VERSION: manifest.version, ...process.env };
  const routes = loadRoutes(readRoutesFilePath(environment));
  const table = createRouteTable(routes);
  const config = readConfig(environment, table.services);
  const telemetry = await createProxyTelemetry(config, routes);
  const { log, observe, observers } = telemetry;
  warnOfMisspeltVariables(log, config.misspeltVariables);
  const documents = loadDocuments(config.openApiFolder);
  const changes = config.profile === "development" ? loadChanges(config.openApiFolder) : undefined;
  const proxy = createRestProxy({ config, table, documents, changes, observe, observers });
  const admin = await telemetry.startAdmin();
  const server = await startServer({
    name: "rest-proxy",
    host: config.host,
    port: config.port,
    headersTimeoutMs: config.headersTimeoutMs,
    requestTimeoutMs: config.requestTimeoutMs,
    drainDelayMs: config.drainDelayMs,
    shutdownGraceMs: config.shutdownGraceMs,
    requestsInFlightMax: config.requestsInFlightMax,
    handler: proxy.handler,
    prepare: proxy.prepare,
    incompleteRequests: proxy.incompleteRequests,
    heldRejections: proxy.heldRejections,
    overloadedHeaders: proxy.overloadedHeaders,
    optimizeEmptyRequests: true,
    // `unread`: the server rejects such a request before it is read.
    onOverloaded: () => observers.admission?.onRejected("unread"),
    log,
    isReady: () => true,
    readinessFields: () => config.build,
    readState: proxy.readState,
    servesStatus: config.profile === "development",
    async close() {
      await proxy.close();
      await Promise.all([admin?.close(), telemetry.stop()]);
    },
  });
  admin?.reportReadiness(server.readiness);
  admin?.reportStatus(server.status);
  stopOnSignals([server], log);
  log.info({ url: server.url, routesFile: config.routesFile, services: config.addresses }, "listening");
}
