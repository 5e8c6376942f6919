import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Environment, readEnvironment } from "@tributary/kit/process/env";
import { runMain } from "@tributary/kit/process/main";
import { createStandalone } from "./standalone.ts";

/** The cache alone, in front of any origin: `ORIGIN=http://127.0.0.1:8000 PORT=8001 node rest-proxy/src/cache/test/standalone/main.ts`. */
await runMain(async () => {
  const { port, origin } = readConfig(process.env);
  const standalone = createStandalone({ origin: new URL(origin), nowMs: Date.now });
  const server = createServer(standalone.handler);
  server.listen(port, () => {
    // Another number than `port` if that is 0.
    const address = server.address() as AddressInfo;
    process.stdout.write(`Caching ${origin} on port ${address.port}\n`);
  });
  const stop = () => {
    server.close();
    server.closeAllConnections();
    void standalone.close();
  };
  process.once("SIGTERM", stop).once("SIGINT", stop);
});

function readConfig(environment: Environment): { readonly port: number; readonly origin: string } {
  return readEnvironment(environment, (env) => ({
    port: env.integer("PORT", { min: 0, max: 65_535, why: "the port to listen on" }),
    origin: env.url("ORIGIN", { why: "scheme, host and port of the origin; http only" }),
  }));
}
