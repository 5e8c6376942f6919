import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { startServer, stopOnSignals } from "@tributary/kit/process/lifecycle";
import { warnOfMisspeltVariables } from "@tributary/kit/process/misspelt-variables";
import { runMain } from "@tributary/kit/process/main";
import { rejectBrokenHttp } from "./admit/broken-request.ts";
import { type Config, readConfig } from "./config.ts";
import { createPlannerPool } from "./plan/planner/planner-pool.ts";
import type { Gateway } from "./server.ts";
import { createGatewayTelemetry } from "./telemetry/gateway-telemetry.ts";

// @apollo/gateway reports to its maker unless told not to; so before it is loaded.
process.env["APOLLO_TELEMETRY_DISABLED"] = "1";

// V8 doubles its young generation each time that much of it has survived; what survives until then, mostly requests that are being answered,
// has grown old and is collected late. By larger steps: on `npm run bench` heavy answers cost a sixth less, and 100 MB less.
setFlagsFromString("--semi-space-growth-factor=16");

// Halves the time to load Apollo's packages from the second start on; does nothing where no folder can be written.
enableCompileCache();

await runMain(async () => serve(readConfig(process.env)));

async function serve(config: Config): Promise<void> {
  let supergraphId: Gateway["supergraphId"] = () => undefined;
  const telemetry = await createGatewayTelemetry(config, () => supergraphId());
  const { log, observe } = telemetry;
  warnOfMisspeltVariables(log, config.misspeltVariables);
  // Its thread loads Apollo Gateway while this one loads Apollo Server.
  const plannerPool = createPlannerPool({ ...config.planning, observe });
  const { createGateway } = await import("./server.ts");
  const graphiqlFolder = join(import.meta.dirname, "../public/graphiql");
  const gateway = createGateway({ config, observe, plannerPool, graphiqlFolder, watchers: telemetry });
  ({ supergraphId } = gateway);
  telemetry.watch({ cacheSizes: gateway.cacheSizes, countWaiting: plannerPool.countWaiting });
  const admin = await telemetry.startAdmin(() => gateway.isReady());
  const server = await startServer({
    ...config,
    ...gateway,
    name: "gateway",
    log,
    prepare: rejectBrokenHttp,
    about: () => ({ ...config.build, supergraph: supergraphId() ?? "none" }),
    async close() {
      await gateway.close();
      await Promise.all([admin?.drain(), telemetry.stop()]);
    },
  });
  stopOnSignals([server], log);
  log.info({ url: server.url }, "listening");
}
