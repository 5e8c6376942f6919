// The gateway's process: configuration, telemetry, planner threads, gateway, listener, in this order.
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { ConfigError } from "@tributary/kit/process/env";
import { startServer, stopOnSignals } from "@tributary/kit/process/lifecycle";
import { warnOfMisspeltVariables } from "@tributary/kit/process/misspelt-variables";
import { runMain } from "@tributary/kit/process/main";
import { type Config, readConfig, settingsFileOf } from "./config.ts";
import { overloadedResponse } from "./paths/rejected-response.ts";
import { createPlannerPool } from "./engine/plan/planner/planner-pool.ts";
import type { Gateway } from "./server.ts";
import { describeSettings } from "./settings/effective-settings.ts";
import { validateSettings } from "./settings/validate.ts";
import { createSettingsStore, readSettingsFile, type SettingsStore } from "./settings-store.ts";
import { createGatewayTelemetry } from "./telemetry/gateway-telemetry.ts";

// Set before @apollo/gateway is loaded: it sends usage reports to Apollo by default.
process.env["APOLLO_TELEMETRY_DISABLED"] = "1";

// Lets V8's young generation grow in larger steps. With the default step, requests in flight move to the old generation and are collected late:
// on `npm run bench` heavy responses cost a sixth less with this flag, and 100 MB less.
setFlagsFromString("--semi-space-growth-factor=16");

// Halves the time to load Apollo's packages from the second start on. Has no effect if its folder is not writable.
enableCompileCache();

const environment = process.env;

await runMain(async () => {
  const [command, path = settingsFileOf(environment)] = process.argv.slice(2);
  if (command !== undefined) return runCommand(command, path);
  const file = readSettingsFile(settingsFileOf(environment), environment);
  const config = readConfig(environment, file.settings);
  await serve(config, createSettingsStore(file, config, environment));
});

/** @throws ConfigError with every problem. */
function runCommand(command: string, path: string | undefined): void {
  if (command !== "validate")
    throw new ConfigError(
      [`${command} is no command: validate [gateway.yaml]; with npm run gateway also compose`],
      "Unknown command:",
    );
  const problems = validateSettings(environment, path);
  if (problems.length > 0) throw new ConfigError(problems);
  process.stdout.write("The settings are valid.\n");
}

async function serve(config: Config, settings: SettingsStore): Promise<void> {
  // Telemetry is created before the gateway, which knows the id.
  let supergraphId: Gateway["supergraphId"] = () => undefined;
  const telemetry = await createGatewayTelemetry(config, () => supergraphId());
  const { log, observe } = telemetry;
  telemetry.setLogLevel?.(settings.current.logLevel);
  warnOfMisspeltVariables(log, config.misspeltVariables);
  // Created before server.ts is imported: the planner threads load Apollo Gateway while this thread loads Apollo Server.
  const { workers, planTimeoutMs } = config.planning;
  const plannerPool = createPlannerPool({ workers, planTimeoutMs, observe });
  const { createGateway } = await import("./server.ts");
  const graphiqlFolder = join(import.meta.dirname, "../public/graphiql");
  const gateway = createGateway({ config, settings, observe, plannerPool, graphiqlFolder, observers: telemetry });
  supergraphId = gateway.supergraphId;
  const { cacheSizes, supergraphStatus } = gateway;
  telemetry.exposeGauges({ cacheSizes, countQueuedJobs: plannerPool.countQueuedJobs, supergraphStatus });
  const admin = await telemetry.startAdmin();
  const server = await startServer({
    name: "gateway",
    handler: gateway.handler,
    prepare: gateway.prepare,
    incompleteRequests: gateway.incompleteRequests,
    host: config.host,
    port: config.port,
    log,
    isReady: gateway.isReady,
    drainDelayMs: config.drainDelayMs,
    shutdownGraceMs: config.shutdownGraceMs,
    requestsInFlightMax: config.requestsInFlightMax,
    overloadedResponse,
    // Above REQUESTS_IN_FLIGHT_MAX a request is rejected before it is read, so its priority is unknown.
    onOverloaded: () => telemetry.admissionObserver?.onRejected("unread"),
    readinessFields: () => ({ ...config.build, ...describeSupergraph(gateway) }),
    async close() {
      await gateway.close();
      await Promise.all([admin?.close(), telemetry.stop()]);
    },
  });
  admin?.reportReadiness(server.readiness);
  admin?.reportConfig(() => describeSettings(settings, environment, gateway));
  stopOnSignals([server], log);
  log.info({ url: server.url }, "listening");
}

function describeSupergraph({ supergraphId, supergraphStatus }: Gateway): Readonly<Record<string, string>> {
  const { staleSeconds } = supergraphStatus();
  const supergraph = supergraphId() ?? "none";
  return staleSeconds > 0 ? { supergraph, supergraphStaleSeconds: String(staleSeconds) } : { supergraph };
}
