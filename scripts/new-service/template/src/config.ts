import type { Environment } from "@tributary/kit/process/env";
import { readServiceConfig } from "@tributary/kit/service/service-config";
import service from "../service.json" with { type: "json" };

export const readConfig = (environment: Environment) => readServiceConfig(environment, service);
