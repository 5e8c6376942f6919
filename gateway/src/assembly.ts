// What a gateway process and a program that embeds a gateway have in common: configuration, telemetry, planner threads, gateway, metrics listener,
// in this order.
import { join } from "node:path";
import type { Environment } from "@tributary/kit/process/env";
import { warnOfMisspeltVariables } from "@tributary/kit/process/misspelt-variables";
import type { AdminServer } from "@tributary/kit/telemetry/admin-server";
import manifest from "../package.json" with { type: "json" };
import { type Config, readConfig, settingsFileOf } from "./config.ts";
import { createPlannerPool } from "./engine/plan/planner/planner-pool.ts";
import type { Gateway } from "./server.ts";
import { describeSettings } from "./settings/effective-settings.ts";
import { createSettingsStore, readSettingsFile } from "./settings-store.ts";
import { createGatewayTelemetry, type GatewayTelemetry } from "./telemetry/gateway-telemetry.ts";

export interface AssembledGateway {
  readonly config: Config;
  readonly gateway: Gateway;
  readonly telemetry: GatewayTelemetry;
  /** Undefined without ADMIN_PORT. */
  readonly admin: AdminServer | undefined;
  /** Called after the last response. */
  close(): Promise<void>;
}

/** @throws ConfigError with every problem. */
export async function assembleGateway(environment: Environment): Promise<AssembledGateway> {
  const file = readSettingsFile(settingsFileOf(environment), environment);
  const config = readConfig({ BUILD_VERSION: manifest.version, ...environment }, file.settings);
  const settings = createSettingsStore(file, config, environment);
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
  const { cacheSizes, supergraphStatus, documentsStatus } = gateway;
  const { countQueuedJobs } = plannerPool;
  telemetry.exposeGauges({ cacheSizes, countQueuedJobs, supergraphStatus, documentsStatus });
  const admin = await telemetry.startAdmin().catch(async (error: unknown) => {
    // A program that embeds the gateway goes on.
    await gateway.close();
    await telemetry.stop();
    throw error;
  });
  admin?.reportConfig(() => describeSettings(settings, environment, gateway));
  return {
    config,
    gateway,
    telemetry,
    admin,
    async close() {
      await gateway.close();
      await Promise.all([admin?.close(), telemetry.stop()]);
    },
  };
}
