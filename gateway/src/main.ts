import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { startServer, stopOnSignals } from "@tributary/kit/lifecycle";
import { createLog } from "@tributary/kit/log";
import { runMain } from "@tributary/kit/run-main";
import { answerBrokenRequests } from "./admit/broken-request.ts";
import { type Config, readConfig } from "./config.ts";
import { createPlanner } from "./plan/planner/planner.ts";
import { createObserver } from "./telemetry/observations.ts";

// @apollo/gateway reports to its maker unless told not to; so before it is loaded.
process.env["APOLLO_TELEMETRY_DISABLED"] = "1";

// V8 doubles its young generation each time that much of it has survived; what survives until then, mostly requests that are being answered,
// has grown old and is collected late. By larger steps: on `npm run bench` heavy answers cost a sixth less, and 100 MB less.
setFlagsFromString("--semi-space-growth-factor=16");

// Halves the time to load Apollo's packages from the second start on; does nothing where no folder can be written.
enableCompileCache();

await runMain(async () => serve(readConfig(process.env)));

async function serve(config: Config): Promise<void> {
  const log = createLog({ name: "gateway", level: config.logLevel });
  const observe = createObserver(log);
  // Its thread loads Apollo Gateway while this one loads Apollo Server.
  const planner = createPlanner({ ...config.planning, observe });
  const { createGateway } = await import("./server.ts");
  const graphiqlFolder = join(import.meta.dirname, "../public/graphiql");
  const gateway = createGateway({ config, observe, planner, graphiqlFolder });
  const server = await startServer({ ...config, ...gateway, name: "gateway", log, prepare: answerBrokenRequests });
  stopOnSignals([server], log);
  log.info({ url: server.url }, "listening");
}
