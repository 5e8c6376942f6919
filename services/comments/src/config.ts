import type { Environment } from "@tributary/kit/process/env";
import { readServiceConfig } from "@tributary/kit/service/service-config";

/** Reads the environment variables; see `readServiceConfig` for their defaults and errors. 4003 is the port without PORT. */
export const readConfig = (environment: Environment) =>
  readServiceConfig(environment, { name: "comments", port: 4003 });
