import type { Environment } from "@tributary/kit/env";
import { readServiceConfig } from "@tributary/kit/service-config";

export const readConfig = (environment: Environment) => readServiceConfig(environment, { name: "users", port: 4001 });
