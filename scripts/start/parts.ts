import { join, resolve } from "node:path";
import { InputError } from "@tributary/kit/errors/input-error";
import type { Environment } from "@tributary/kit/process/env";
import { fileURLToPath } from "node:url";
import type { External } from "../../supergraph/contract/external.ts";
import { readServices, type Service, toVariablePrefix } from "../../supergraph/services.ts";

/** A running `npm start` does not notice new ones. */
export const services = readServicesOrExit(fileURLToPath(new URL("../..", import.meta.url)));
export type ServiceName = string;
export const serviceNames: readonly ServiceName[] = services.map(({ name }) => name);
/** A service, or "issuer", "gateway" or "rest-proxy". */
export type PartName = string;

export interface Part {
  readonly name: PartName;
  /** From the repository's root. */
  readonly folder: string;
  /** USERS_PORT and so on. `npm start` passes the value to the process as PORT. */
  readonly portVariable: string;
  readonly defaultPort: number;
  /** Of an external service. */
  readonly external: External | undefined;
}

/** No command that needs the list can run without it, and none can catch what its imports throw. */
function readServicesOrExit(root: string): readonly Service[] {
  try {
    return readServices(root);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** In the order of the banner. */
export const parts: readonly Part[] = [
  part("issuer", "infra/issuer", 4020),
  ...services.map(({ name, folder, port, external }) => part(name, folder, port, external)),
  part("gateway", "gateway", 4000),
  part("rest-proxy", "rest-proxy", 4010),
];

export const partNames: readonly PartName[] = parts.map(({ name }) => name);

function part(name: PartName, folder: string, defaultPort: number, external?: External): Part {
  return { name, folder, portVariable: `${toVariablePrefix(name)}_PORT`, defaultPort, external };
}

export const postgresPort = { variable: "POSTGRES_PORT", default: 4032 } as const;

export type Ports = Readonly<Record<"issuer" | "gateway" | "rest-proxy" | "postgres", number>> &
  Readonly<Record<ServiceName, number>>;

export function portOf(ports: Ports, name: PartName): number {
  const port = ports[name];
  if (port === undefined) throw new Error(`${name} is not a part of the platform.`);
  return port;
}

export function isService(name: string): name is ServiceName {
  return serviceNames.some((service) => service === name);
}

export function entryOf(part: Part): string {
  return join(part.folder, "src", "main.ts");
}

/** Undefined for a service with its code in this repository. */
export function externalOf(name: PartName): External | undefined {
  return services.find((service) => service.name === name)?.external;
}

/** `REVIEWS_URL`: the origin of an external service that runs already. */
export function addressVariable(name: ServiceName): string {
  return `${toVariablePrefix(name)}_URL`;
}

/** The data folder: DATA_DIR, relative to the repository's root; `.data` by default. */
export function dataFolder(root: string, environment: Environment): string {
  return resolve(root, environment["DATA_DIR"] || ".data");
}

/** The supergraph and the routes that the gateway and the REST proxy read. The dev loop rewrites them. */
export function publishedFiles(dataDir: string): { readonly supergraph: string; readonly routes: string } {
  const folder = join(dataDir, "supergraph");
  return { supergraph: join(folder, "supergraph.graphql"), routes: join(folder, "routes.json") };
}

export function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
