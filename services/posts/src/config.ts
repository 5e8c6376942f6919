import type { Environment } from "@tributary/kit/process/env";
import { readServiceConfig } from "@tributary/kit/service/service-config";

/** Reads the environment variables; see `readServiceConfig` for their defaults and errors. Default port 4002; `name` is the service's name in traces. */
export const readConfig = (environment: Environment) => readServiceConfig(environment, { name: "posts", port: 4002 });
