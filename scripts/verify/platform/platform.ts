// PostgreSQL, a token issuer, and processes of the services, the gateway and the REST proxy on free ports: for verifications.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { migrate } from "@tributary/kit/postgres/migrate";
import { silentLog } from "@tributary/kit/process/log";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { readServices, toVariablePrefix } from "../../../supergraph/services.ts";
import { truncateAndSeed } from "../../seed/seed.ts";
import type { VerificationRun } from "../verification.ts";
import { endpointKeys, type Environment, type PartFolder, type PartProcess, startProcess } from "./part-process.ts";
import { type PlatformPostgres, startPostgres } from "./postgres.ts";

/** The services that the code of the verifications names. */
type ServiceName = "users" | "posts" | "comments" | "orders";
/** All services of the repository. A service that is added later has the type of the four others, and runs too. */
export const serviceNames = readServices(fileURLToPath(new URL("../../..", import.meta.url)))
  .filter(({ external }) => external === undefined)
  .map(({ name }) => name as ServiceName);
type EndpointName = "gateway" | "rest-proxy";
export type PartName = ServiceName | EndpointName;

export interface Replica extends PartProcess {
  /** Such as "posts 2". */
  readonly name: string;
  /** Host and port of its metrics. */
  readonly admin: string;
}

interface ServiceReplica extends Replica {
  /** Base URL of its change feed. */
  readonly feedUrl: string;
}

/** Starts one more replica of a service. */
export type StartReplica = () => Promise<ServiceReplica>;

/** Starts one more replica of any part, without its change feed. */
type StartPartReplica = (part: PartName, environment: Environment) => Promise<Replica>;

/** The replicas of a service, and the base URLs by which the gateway and the REST proxy reach them. */
export interface PlacedService {
  readonly replicas: readonly ServiceReplica[];
  readonly urls: readonly string[];
}

type PlacedServices = Readonly<Record<ServiceName, PlacedService>>;

export interface PlatformOptions {
  readonly run: Pick<VerificationRun, "onCleanup">;
  /** Added to, or instead of, the variables that the platform sets. */
  readonly environment?: (part: PartName) => Environment;
  /** Starts the replicas of a service. */
  readonly place: (name: ServiceName, start: StartReplica) => Promise<PlacedService>;
  /** A folder for the output of each process, one file each. */
  readonly logs?: string | undefined;
}

export interface Platform {
  readonly issuer: TestIssuer;
  readonly postgres: PlatformPostgres;
  readonly replicas: Readonly<Record<ServiceName, readonly ServiceReplica[]>> &
    Readonly<Record<EndpointName, readonly Replica[]>>;
}

const supergraphFolder = fileURLToPath(new URL("../../../supergraph", import.meta.url));
export const supergraphFile = join(supergraphFolder, "supergraph.graphql");
const loopback = "127.0.0.1";

/** The platform is stopped, and its data deleted, when the verification ends. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { run } = options;
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-"));
  run.onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  const issuer = await startTestIssuer();
  run.onCleanup(() => issuer.stop());
  const postgres = await startPostgres(join(folder, "postgres"), run);
  const databaseUrls = await createDatabases(postgres);
  const startPartReplica = createReplicaStarter(options);

  const startedServices = await Promise.all(
    serviceNames.map(async (name) => {
      const databaseUrl = databaseUrls[name];
      const environment = { ...identityEnvironment(issuer), DATABASE_URL: databaseUrl };
      const directory = fileURLToPath(new URL(`../../../services/${name}/migrations`, import.meta.url));
      await migrate({ databaseUrl, directory, log: silentLog });
      return [name, await options.place(name, () => startServiceReplica(startPartReplica, name, environment))] as const;
    }),
  );
  const services = Object.fromEntries(startedServices) as PlacedServices;
  await truncateAndSeed({ urls: databaseUrls, scale: 1, progress: () => {} });

  const startEndpoint = async (name: EndpointName, environment: Environment) => [
    await startPartReplica(name, { ...feedEnvironment(services), ...environment }),
  ];
  const gateway = await startEndpoint("gateway", gatewayEnvironment(services));
  const restProxy = await startEndpoint("rest-proxy", restProxyEnvironment(services));
  const serviceReplicas = serviceNames.map((name) => [name, services[name].replicas] as const);
  return {
    issuer,
    postgres,
    replicas: {
      ...(Object.fromEntries(serviceReplicas) as Record<ServiceName, readonly ServiceReplica[]>),
      gateway,
      "rest-proxy": restProxy,
    },
  };
}

/** @throws Error if the platform has fewer replicas of this part. */
export function replicaOf({ replicas }: Platform, part: PartName, index = 0): Replica {
  const replica = replicas[part][index];
  if (!replica) throw new Error(`${part} ${index + 1} does not run`);
  return replica;
}

async function createDatabases(postgres: PlatformPostgres): Promise<Record<ServiceName, string>> {
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const name of serviceNames) urls[name] = await postgres.createDatabase(name);
  return urls as Record<ServiceName, string>;
}

function createReplicaStarter(options: PlatformOptions): StartPartReplica {
  const { run, logs: logFolder } = options;
  if (logFolder !== undefined) mkdirSync(logFolder, { recursive: true });
  const startedCounts = new Map<PartName, number>();

  return async (part, environment) => {
    const replicaNumber = (startedCounts.get(part) ?? 0) + 1;
    startedCounts.set(part, replicaNumber);
    const port = await pickFreePort();
    const adminPort = await pickFreePort();
    const logFile = logFolder === undefined ? undefined : join(logFolder, `${part}-${replicaNumber}.log`);
    const additionalEnvironment: Environment = options.environment?.(part) ?? {};
    const partProcess = await startProcess(folderOf(part), `http://${loopback}:${port}`, {
      environment: {
        ...environment,
        HOST: loopback,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        LOG_LEVEL: "warn",
        ...additionalEnvironment,
      },
      onCleanup: run.onCleanup,
      onOutput(text) {
        if (logFile !== undefined) appendFileSync(logFile, text);
      },
    });
    return { ...partProcess, name: `${part} ${replicaNumber}`, admin: `${loopback}:${adminPort}` };
  };
}

function folderOf(part: PartName): PartFolder {
  return part === "gateway" || part === "rest-proxy" ? part : `services/${part}`;
}

/** Adds the change feed to a replica. */
async function startServiceReplica(
  startPartReplica: StartPartReplica,
  name: ServiceName,
  environment: Environment,
): Promise<ServiceReplica> {
  const feedPort = await pickFreePort();
  const feed = { FEED_PORT: String(feedPort), FEED_KEYS: endpointKeys.FEED_KEYS };
  const replica = await startPartReplica(name, { ...environment, ...feed });
  return { ...replica, feedUrl: `http://${loopback}:${feedPort}` };
}

function gatewayEnvironment(services: PlacedServices): Environment {
  const entityCaches = serviceNames.map((name) => [`ENTITY_CACHE_${toVariablePrefix(name)}`, "on"]);
  return {
    SUPERGRAPH_FILE: supergraphFile,
    SETTINGS_FILE: join(supergraphFolder, "gateway.yaml"),
    ...urlVariables(services, (prefix) => `SUBGRAPH_URL_${prefix}`, "/graphql"),
    ...Object.fromEntries(entityCaches),
  };
}

function restProxyEnvironment(services: PlacedServices): Environment {
  return {
    ROUTES_FILE: join(supergraphFolder, "routes.json"),
    OPENAPI_FOLDER: join(supergraphFolder, "openapi"),
    ...urlVariables(services, (prefix) => `${prefix}_URL`, ""),
  };
}

/** The gateway and the REST proxy follow the feed of each service. */
function feedEnvironment(services: PlacedServices): Environment {
  const feedVariables = serviceNames.flatMap((name) => {
    const value = services[name].replicas.map(({ feedUrl }) => feedUrl).join(",");
    const prefix = toVariablePrefix(name);
    return [
      [`${prefix}_FEED_URL`, value],
      [`SUBGRAPH_FEED_URL_${prefix}`, value],
    ] as const;
  });
  return { ...Object.fromEntries(feedVariables), ...endpointKeys };
}

/** One variable for each service: the URLs of `path` at its replicas, separated by commas. */
function urlVariables(services: PlacedServices, toName: (prefix: string) => string, path: string): Environment {
  const variables = serviceNames.map((name) => {
    const urls = services[name].urls.map((url) => `${url}${path}`);
    return [toName(toVariablePrefix(name)), urls.join(",")] as const;
  });
  return Object.fromEntries(variables);
}

function identityEnvironment({ issuer, audience, jwksUrl }: TestIssuer): Environment {
  return { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
}
