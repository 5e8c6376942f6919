import type { Environment } from "@tributary/kit/env";
import { readServiceConfig } from "@tributary/kit/service-config";

export const readConfig = (environment: Environment) => readServiceConfig(environment, { name: "orders", port: 4004 });
