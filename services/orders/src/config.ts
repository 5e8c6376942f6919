import type { Environment } from "@tributary/kit/process/env";
import { readServiceConfig } from "@tributary/kit/service/service-config";
import service from "../service.json" with { type: "json" };

/** Called by main.ts. `readServiceConfig` lists the variables, defaults and errors; service.json has the default port and the name in traces. */
export const readConfig = (environment: Environment) => readServiceConfig(environment, service);
