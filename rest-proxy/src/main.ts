import { ConfigError } from "@tributary/kit/env";
import { startServer, stopOnSignals } from "@tributary/kit/lifecycle";
import { createLog } from "@tributary/kit/log";
import { readConfig, readRoutesFile } from "./config.ts";
import { createRouteTable } from "./route-table.ts";
import { loadRoutes } from "./routes.ts";
import { createRestProxy } from "./server.ts";
import { createObserver } from "./telemetry.ts";

async function main(): Promise<void> {
  const table = createRouteTable(loadRoutes(readRoutesFile(process.env)));
  const config = readConfig(process.env, table.services);
  const log = createLog({ name: "rest-proxy", level: config.logLevel });
  const proxy = createRestProxy({ ...config, table, observe: createObserver(log) });
  const server = await startServer({
    ...config,
    name: "rest-proxy",
    handler: proxy.handler,
    prepare: proxy.prepare,
    log,
    isReady: () => true,
    close: async () => proxy.close(),
  });
  stopOnSignals([server], log);
  log.info({ url: server.url, routesFile: config.routesFile, services: config.addresses }, "listening");
}

try {
  await main();
} catch (error) {
  // Somebody reads this in a terminal: what to do about it, without a stack.
  process.stderr.write(`${error instanceof ConfigError || error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
