import type { Environment } from "@tributary/kit/process/env";
import { readServiceConfig } from "@tributary/kit/service/service-config";

/** Reads the environment variables; see `readServiceConfig` for their defaults and errors. 4001 is the port without PORT. */
export const readConfig = (environment: Environment) => readServiceConfig(environment, { name: "users", port: 4001 });
