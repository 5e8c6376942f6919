// The services of this repository, for tests of the whole platform. A new service needs no change here.
import { fileURLToPath } from "node:url";
import { defaultScopes } from "../infra/issuer/src/demo-users.ts";
import type { Environment } from "../kit/src/process/env.ts";
import type { ServiceApp, ServiceParts } from "../kit/src/service/service.ts";
import type { ServiceConfig } from "../kit/src/service/service-config.ts";
import { readServices } from "../supergraph/services.ts";

/** Those with their code here: of an external one there is only its contract. */
export const services = readServices(fileURLToPath(new URL("..", import.meta.url))).filter(
  ({ external }) => external === undefined,
);
export const serviceNames: readonly string[] = services.map(({ name }) => name);

/** The scopes of a token for a user's own data. */
export { defaultScopes };

interface AppModule {
  readonly createApp: (parts: ServiceParts) => Promise<ServiceApp>;
}

/** The app of each service, by its name. */
export async function loadApps(): Promise<readonly (readonly [name: string, createApp: AppModule["createApp"]])[]> {
  return Promise.all(
    serviceNames.map(async (name) => {
      const { createApp } = (await import(`../services/${name}/src/app.ts`)) as AppModule;
      return [name, createApp] as const;
    }),
  );
}

/** The function that reads the configuration of each service, by its name. */
export async function loadConfigReaders(): Promise<
  readonly (readonly [name: string, readConfig: (environment: Environment) => ServiceConfig])[]
> {
  return Promise.all(
    serviceNames.map(async (name) => {
      const { readConfig } = (await import(`../services/${name}/src/config.ts`)) as {
        readonly readConfig: (environment: Environment) => ServiceConfig;
      };
      return [name, readConfig] as const;
    }),
  );
}
