import type { Environment } from "@tributary/kit/env";
import { readServiceConfig } from "@tributary/kit/service-config";

export const readConfig = (environment: Environment) => readServiceConfig(environment, { name: "posts", port: 4002 });
