import type { Environment } from "@tributary/kit/process/env";
import { readServiceConfig } from "@tributary/kit/service/service-config";

export const readConfig = (environment: Environment) => readServiceConfig(environment, { name: "orders", port: 4004 });
