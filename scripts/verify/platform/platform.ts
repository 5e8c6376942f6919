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
import { journeyScopes } from "../traffic/journey.ts";
import { writerId } from "../traffic/seeded.ts";
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

export function replicasOfEachPart(replicaCount: number): Readonly<Record<PartName, number>> {
  const partNames: readonly PartName[] = [...serviceNames, "gateway", "rest-proxy"];
  return Object.fromEntries(partNames.map((name) => [name, replicaCount])) as Record<PartName, number>;
}

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

interface HttpListener {
  readonly host?: string;
  readonly port?: number;
}

interface ReplicaListeners extends HttpListener {
  readonly feedPort?: number;
}

/** Starts one more replica of a service, on free ports of 127.0.0.1 by default. */
export type StartReplica = (listeners?: ReplicaListeners) => Promise<ServiceReplica>;

/** Starts one more replica of any part, without its change feed; on a free port of 127.0.0.1 by default. */
type StartPartReplica = (part: PartName, environment: Environment, listener?: HttpListener) => Promise<Replica>;

/** The replicas of a service, and the base URLs by which the gateway and the REST proxy reach them. */
export interface PlacedService {
  readonly replicas: readonly ServiceReplica[];
  readonly urls: readonly string[];
  /** The base URLs of its change feeds; by default the `feedUrl` of each replica. */
  readonly feedUrls?: readonly string[];
}

type PlacedServices = Readonly<Record<ServiceName, PlacedService>>;

export interface PlatformOptions {
  readonly run: Pick<VerificationRun, "onCleanup">;
  /** The number of replicas of each part; without a number, or with 0, the part does not run. If it runs, `place` may start another number. */
  readonly replicas: Partial<Readonly<Record<PartName, number>>>;
  /** Whether the databases of the services that run have the rows of `npm run seed`. */
  readonly isSeeded: boolean;
  /** Added to, or instead of, the variables that the platform sets. */
  readonly environment?: (part: PartName) => Environment;
  /** Starts the replicas of a service in another way, for example behind a host name or a proxy. */
  readonly place?: Partial<Readonly<Record<ServiceName, (start: StartReplica) => Promise<PlacedService>>>>;
  /** A folder for the output of each process, one file each. */
  readonly logs?: string | undefined;
}

export interface Platform {
  /** A temporary folder, deleted at the end. */
  readonly folder: string;
  readonly issuer: TestIssuer;
  readonly postgres: PlatformPostgres;
  readonly databaseUrls: Readonly<Record<ServiceName, string>>;
  /** Empty for a part that does not run. */
  readonly replicas: Readonly<Record<ServiceName, readonly ServiceReplica[]>> &
    Readonly<Record<EndpointName, readonly Replica[]>>;
  /** A token of the user `writerId`, with the scopes of the journey; valid for a day. */
  readonly token: string;
}

const supergraphFolder = fileURLToPath(new URL("../../../supergraph", import.meta.url));
export const supergraphFile = join(supergraphFolder, "supergraph.graphql");
const loopback = "127.0.0.1";
const tokenTtlSeconds = 86_400;

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
      if (options.replicas[name]) await migrate({ databaseUrl, directory, log: silentLog });
      return [name, await startService(name, options, environment, startPartReplica)] as const;
    }),
  );
  const services = Object.fromEntries(startedServices) as PlacedServices;
  if (options.isSeeded) {
    await truncateAndSeed({ urls: urlsOfRunningServices(databaseUrls, options), scale: 1, progress: () => {} });
  }

  const startEndpoint = (name: EndpointName, environment: Environment) => {
    const startReplica = () => startPartReplica(name, { ...feedEnvironment(services), ...environment });
    return Promise.all(Array.from({ length: options.replicas[name] ?? 0 }, startReplica));
  };
  const gateway = await startEndpoint("gateway", gatewayEnvironment(services));
  const restProxy = await startEndpoint("rest-proxy", restProxyEnvironment(services));
  const serviceReplicas = serviceNames.map((name) => [name, services[name].replicas] as const);
  const expirySeconds = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  return {
    folder,
    issuer,
    postgres,
    databaseUrls,
    replicas: {
      ...(Object.fromEntries(serviceReplicas) as Record<ServiceName, readonly ServiceReplica[]>),
      gateway,
      "rest-proxy": restProxy,
    },
    token: await issuer.token(writerId, journeyScopes, { exp: expirySeconds }),
  };
}

/** @throws Error if the platform has fewer replicas of this part. */
export function replicaOf({ replicas }: Platform, part: PartName, index = 0): Replica {
  const replica = replicas[part][index];
  if (!replica) throw new Error(`${part} ${index + 1} does not run`);
  return replica;
}

function urlsOfRunningServices(urls: Platform["databaseUrls"], { replicas }: PlatformOptions) {
  const runningNames = serviceNames.filter((name) => (replicas[name] ?? 0) > 0);
  return Object.fromEntries(runningNames.map((name) => [name, urls[name]]));
}

async function createDatabases(postgres: PlatformPostgres): Promise<Record<ServiceName, string>> {
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const name of serviceNames) urls[name] = await postgres.createDatabase(name);
  return urls as Record<ServiceName, string>;
}

/** Starts the replicas of the service. The result is empty if the options have none. */
async function startService(
  name: ServiceName,
  options: PlatformOptions,
  environment: Environment,
  startPartReplica: StartPartReplica,
): Promise<PlacedService> {
  const replicaCount = options.replicas[name] ?? 0;
  if (replicaCount === 0) return { replicas: [], urls: [] };
  const startReplica: StartReplica = (listeners) => startServiceReplica(startPartReplica, name, environment, listeners);
  const place = options.place?.[name];
  if (place) return place(startReplica);
  const replicas = await Promise.all(Array.from({ length: replicaCount }, () => startReplica()));
  return { replicas, urls: replicas.map(({ url }) => url) };
}

function createReplicaStarter(options: PlatformOptions): StartPartReplica {
  const { run, logs: logFolder } = options;
  if (logFolder !== undefined) mkdirSync(logFolder, { recursive: true });
  const startedCounts = new Map<PartName, number>();

  return async (part, environment, listener = {}) => {
    const replicaNumber = (startedCounts.get(part) ?? 0) + 1;
    startedCounts.set(part, replicaNumber);
    const { host = loopback, port = await pickFreePort(host) } = listener;
    const adminPort = await pickFreePort();
    const logFile = logFolder === undefined ? undefined : join(logFolder, `${part}-${replicaNumber}.log`);
    const additionalEnvironment: Environment = options.environment?.(part) ?? {};
    const partProcess = await startProcess(folderOf(part), `http://${host}:${port}`, {
      environment: {
        ...environment,
        HOST: host,
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

/** Adds the change feed to a replica. Replicas on one host cannot share a feed port, so each gets a free port by default. */
async function startServiceReplica(
  startPartReplica: StartPartReplica,
  name: ServiceName,
  environment: Environment,
  listeners: ReplicaListeners = {},
): Promise<ServiceReplica> {
  const { host = loopback, feedPort = await pickFreePort(host) } = listeners;
  const replica = await startPartReplica(
    name,
    { ...environment, FEED_PORT: String(feedPort), FEED_KEYS: endpointKeys.FEED_KEYS },
    listeners,
  );
  return { ...replica, feedUrl: `http://${host}:${feedPort}` };
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

/** The REST proxy requires a URL for each service. A service that does not run gets the URL of a running one, so clients must not request it. */
function restProxyEnvironment(services: PlacedServices): Environment {
  const substitute = Object.values(services).find(isRunning);
  const servicesWithSubstitutes = serviceNames.map(
    (name) => [name, isRunning(services[name]) ? services[name] : substitute] as const,
  );
  return {
    ROUTES_FILE: join(supergraphFolder, "routes.json"),
    OPENAPI_FOLDER: join(supergraphFolder, "openapi"),
    ...urlVariables(Object.fromEntries(servicesWithSubstitutes) as PlacedServices, (prefix) => `${prefix}_URL`, ""),
  };
}

/** The gateway and the REST proxy follow the feed of each service that runs. */
function feedEnvironment(services: PlacedServices): Environment {
  const feedVariables = serviceNames.flatMap((name) => {
    const { replicas, feedUrls } = services[name];
    const urls = feedUrls ?? replicas.map(({ feedUrl }) => feedUrl);
    const value = urls.length > 0 ? urls.join(",") : "none";
    const prefix = toVariablePrefix(name);
    return [
      [`${prefix}_FEED_URL`, value],
      [`SUBGRAPH_FEED_URL_${prefix}`, value],
    ] as const;
  });
  return { ...Object.fromEntries(feedVariables), ...endpointKeys };
}

/** One variable for each running service: the URLs of `path` at its replicas, separated by commas. */
function urlVariables(services: PlacedServices, toName: (prefix: string) => string, path: string): Environment {
  const runningNames = serviceNames.filter((name) => isRunning(services[name]));
  const variables = runningNames.map((name) => {
    const urls = services[name].urls.map((url) => `${url}${path}`);
    return [toName(toVariablePrefix(name)), urls.join(",")] as const;
  });
  return Object.fromEntries(variables);
}

function isRunning({ urls }: PlacedService): boolean {
  return urls.length > 0;
}

function identityEnvironment({ issuer, audience, jwksUrl }: TestIssuer): Environment {
  return { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
}
