import { startServer, stopOnSignals } from "@tributary/kit/process/lifecycle";
import { warnOfMisspeltVariables } from "@tributary/kit/process/misspelt-variables";
import { runMain } from "@tributary/kit/process/main";
import { readConfig, readRoutesFilePath } from "./config.ts";
import { loadDocuments } from "./documents/load.ts";
import { createRouteTable } from "./route/route-table.ts";
import { loadRoutes } from "./route/routes.ts";
import { createRestProxy } from "./server.ts";
import { createProxyTelemetry } from "./telemetry/proxy-telemetry.ts";

/** Starts the REST proxy: reads routes and configuration, assembles the proxy and its telemetry, and listens until SIGTERM. */
await runMain(async () => {
  const routes = loadRoutes(readRoutesFilePath(process.env));
  const table = createRouteTable(routes);
  const config = readConfig(process.env, table.services);
  const telemetry = await createProxyTelemetry(config, routes);
  const { log, observe, observers } = telemetry;
  warnOfMisspeltVariables(log, config.misspeltVariables);
  const documents = loadDocuments(config.openApiFolder);
  const proxy = createRestProxy({ config, table, documents, observe, observers });
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
    optimizeEmptyRequests: true,
    // `unread`: the server rejects such a request before it is read.
    onOverloaded: () => observers.admission?.onRejected("unread"),
    log,
    isReady: () => true,
    readinessFields: () => config.build,
    async close() {
      await proxy.close();
      await Promise.all([admin?.close(), telemetry.stop()]);
    },
  });
  admin?.reportReadiness(server.readiness);
  stopOnSignals([server], log);
  log.info({ url: server.url, routesFile: config.routesFile, services: config.addresses }, "listening");
});
