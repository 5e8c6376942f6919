import { onTestFinished } from "vitest";
import { type RunningServer, type ServerOptions, startServer } from "../process/lifecycle.ts";
import { silentLog } from "../process/log.ts";

/** On a free port, until the test ends. */
export async function startTestServer(
  options: Partial<ServerOptions> & Pick<ServerOptions, "handler">,
): Promise<RunningServer> {
  const server = await startServer({
    name: "test",
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    isReady: () => true,
    close: async () => {},
    drainDelayMs: 0,
    shutdownGraceMs: 60_000,
    ...options,
  });
  onTestFinished(() => server.drain());
  return server;
}
