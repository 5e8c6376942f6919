import { startServer, stopOnSignals } from "@tributary/kit/lifecycle";
import { createLog } from "@tributary/kit/log";
import { runMain } from "@tributary/kit/run-main";
import { readConfig, readRoutesFile } from "./config.ts";
import { loadDocuments } from "./documents/load.ts";
import { createRouteTable } from "./route-table.ts";
import { loadRoutes } from "./routes.ts";
import { createRestProxy } from "./server.ts";
import { createObserver } from "./telemetry.ts";

await runMain(async () => {
  const table = createRouteTable(loadRoutes(readRoutesFile(process.env)));
  const config = readConfig(process.env, table.services);
  const log = createLog({ name: "rest-proxy", level: config.logLevel });
  const documents = loadDocuments(config.openApiFolder);
  const proxy = createRestProxy({ ...config, table, documents, observe: createObserver(log) });
  const server = await startServer({
    ...config,
    name: "rest-proxy",
    handler: proxy.handler,
    prepare: proxy.prepare,
    log,
    isReady: () => true,
    close: () => proxy.close(),
  });
  stopOnSignals([server], log);
  log.info({ url: server.url, routesFile: config.routesFile, services: config.addresses }, "listening");
});
