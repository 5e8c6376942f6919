// PostgreSQL, a token issuer, and processes of the services, the gateway and the REST proxy on free ports: for verifications, and for
// measure:capacity.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { readServices, toVariablePrefix } from "../../../supergraph/services.ts";
import { truncateAndSeed } from "../../seed/seed.ts";
import { journeyScopes } from "../traffic/journey.ts";
import { writerId } from "../traffic/seeded.ts";
import type { VerificationRun } from "../verification.ts";
import { endpointKeys, type Environment, migrateService, type PartProcess, startProcess } from "./part-process.ts";
import { type PlatformPostgres, startPostgres } from "./postgres.ts";

/** The services that the code of the verifications names. */
type ServiceName = "users" | "posts" | "comments" | "orders";
/** All services of the repository. A service that is added later has the type of the four others, and runs too. */
export const serviceNames = readServices(fileURLToPath(new URL("../../..", import.meta.url))).map(
  ({ name }) => name as ServiceName,
);
type EndpointName = "gateway" | "rest-proxy";
/** A part of the platform: a service, the gateway or the REST proxy. Each can have several replicas. */
export type PartName = ServiceName | EndpointName;

/** The same number of replicas for each service, the gateway and the REST proxy. */
export function replicasOfEachPart(count: number): Readonly<Record<PartName, number>> {
  const names: readonly PartName[] = [...serviceNames, "gateway", "rest-proxy"];
  return Object.fromEntries(names.map((name) => [name, count])) as Record<PartName, number>;
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

interface ReplicaListeners {
  readonly host?: string;
  readonly port?: number;
  readonly feedPort?: number;
}

/** Starts one more replica of a service, on free ports of 127.0.0.1 by default. */
export type StartReplica = (at?: ReplicaListeners) => Promise<ServiceReplica>;

/** The replicas of a service, and the base URLs by which the gateway and the REST proxy reach them. */
export interface PlacedService {
  readonly replicas: readonly ServiceReplica[];
  readonly urls: readonly string[];
  /** The base URLs of its change feeds; by default the `feedUrl` of each replica. */
  readonly feedUrls?: readonly string[];
}

export interface PlatformOptions {
  readonly run: Pick<VerificationRun, "onCleanup">;
  /** The number of replicas of each part; without a number, or with 0, it does not run. A service with `place` starts its own number instead. */
  readonly replicas: Partial<Readonly<Record<PartName, number>>>;
  /** Whether the databases of the services that run have the rows of `npm run seed`. */
  readonly isSeeded: boolean;
  /** Additional variables of each process. */
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

/** Starts the platform. It is stopped, and its data deleted, when the verification ends. */
export async function startPlatform(o: PlatformOptions): Promise<Platform> {
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-"));
  o.run.onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  const issuer = await startTestIssuer();
  o.run.onCleanup(() => issuer.stop());
  const postgres = await startPostgres(join(folder, "postgres"), o.run);
  const databaseUrls = await createDatabases(postgres);
  const startReplica = createReplicaStarter(o);

  async function startService(name: ServiceName): Promise<readonly [ServiceName, PlacedService]> {
    const count = o.replicas[name] ?? 0;
    if (count === 0) return [name, { replicas: [], urls: [] }];
    const environment = { ...identityOf(issuer), DATABASE_URL: databaseUrls[name] };
    await migrateService(`services/${name}`, environment);
    const start: StartReplica = (at) => startServiceReplica(startReplica, name, environment, at);
    const place = o.place?.[name];
    if (place) return [name, await place(start)];
    const replicas = await Promise.all(Array.from({ length: count }, () => start()));
    return [name, { replicas, urls: replicas.map(({ url }) => url) }];
  }

  const services = Object.fromEntries(await Promise.all(serviceNames.map(startService))) as Record<
    ServiceName,
    PlacedService
  >;
  if (o.isSeeded) await truncateAndSeed({ urls: urlsOfRunning(databaseUrls, o), scale: 1, progress: () => {} });
  const startPart = (name: EndpointName, environment: Environment) =>
    Promise.all(
      Array.from({ length: o.replicas[name] ?? 0 }, () =>
        startReplica(name, { ...feedEnvironment(services), ...environment }),
      ),
    );
  const gateway = await startPart("gateway", gatewayEnvironment(services));
  const restProxy = await startPart("rest-proxy", restProxyEnvironment(services));
  const serviceReplicas = serviceNames.map((name) => [name, services[name].replicas] as const);
  const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
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
    token: await issuer.token(writerId, journeyScopes, { exp }),
  };
}

/** @returns the replica. @throws Error if the platform has fewer replicas of this part. */
export function replicaOf({ replicas }: Platform, part: PartName, index = 0): Replica {
  const replica = replicas[part][index];
  if (!replica) throw new Error(`${part} ${index + 1} does not run`);
  return replica;
}

function urlsOfRunning(urls: Platform["databaseUrls"], { replicas }: PlatformOptions) {
  return Object.fromEntries(serviceNames.filter((name) => (replicas[name] ?? 0) > 0).map((name) => [name, urls[name]]));
}

async function createDatabases(postgres: PlatformPostgres): Promise<Record<ServiceName, string>> {
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const name of serviceNames) urls[name] = await postgres.createDatabase(name);
  return urls as Record<ServiceName, string>;
}

function createReplicaStarter({ run, environment: additional = () => ({}), logs }: PlatformOptions) {
  if (logs !== undefined) mkdirSync(logs, { recursive: true });
  const counts = new Map<PartName, number>();

  return async (
    part: PartName,
    environment: Environment,
    at: Pick<ReplicaListeners, "host" | "port"> = {},
  ): Promise<Replica> => {
    const count = (counts.get(part) ?? 0) + 1;
    counts.set(part, count);
    const { host = loopback, port = await pickFreePort(host) } = at;
    const adminPort = await pickFreePort();
    const log = logs === undefined ? undefined : join(logs, `${part}-${count}.log`);
    const process = await startProcess(
      part === "gateway" || part === "rest-proxy" ? part : `services/${part}`,
      `http://${host}:${port}`,
      {
        environment: {
          ...environment,
          ...{ HOST: host, PORT: String(port), ADMIN_PORT: String(adminPort), LOG_LEVEL: "warn" },
          ...additional(part),
        },
        onCleanup: run.onCleanup,
        onOutput: (text) => void (log !== undefined && appendFileSync(log, text)),
      },
    );
    return { ...process, name: `${part} ${count}`, admin: `${loopback}:${adminPort}` };
  };
}

/** Adds the change feed to a replica. Replicas on one host cannot share a feed port, so each gets a free port by default. */
async function startServiceReplica(
  startReplica: ReturnType<typeof createReplicaStarter>,
  name: ServiceName,
  environment: Environment,
  at: ReplicaListeners = {},
): Promise<ServiceReplica> {
  const { host = loopback, feedPort = await pickFreePort(host) } = at;
  const replica = await startReplica(
    name,
    { ...environment, FEED_PORT: String(feedPort), FEED_KEYS: endpointKeys.FEED_KEYS },
    at,
  );
  return { ...replica, feedUrl: `http://${host}:${feedPort}` };
}

type PlacedServices = Readonly<Record<ServiceName, PlacedService>>;

function gatewayEnvironment(services: PlacedServices): Environment {
  const caches = serviceNames.map((name) => [`ENTITY_CACHE_${toVariablePrefix(name)}`, "on"]);
  return {
    SUPERGRAPH_FILE: supergraphFile,
    ...toVariables(services, (name) => `SUBGRAPH_URL_${name}`, "/graphql"),
    ...Object.fromEntries(caches),
  };
}

/** The REST proxy requires a URL for each service. A service that does not run gets the URL of a running one, so clients must not request it. */
function restProxyEnvironment(services: PlacedServices): Environment {
  const running = Object.values(services).find(({ urls }) => urls.length > 0);
  const complete = serviceNames.map(
    (name) => [name, services[name].urls.length > 0 ? services[name] : running] as const,
  );
  return {
    ROUTES_FILE: join(supergraphFolder, "routes.json"),
    OPENAPI_FOLDER: join(supergraphFolder, "openapi"),
    ...toVariables(Object.fromEntries(complete) as PlacedServices, (name) => `${name}_URL`, ""),
  };
}

/**
 * The gateway and the REST proxy follow the feed of each service that runs. A verification can set `<SERVICE>_FEED_URL` of the REST proxy and
 * `SUBGRAPH_FEED_URL_<SERVICE>` of the gateway to `none`.
 */
function feedEnvironment(services: PlacedServices): Environment {
  const urls = serviceNames.flatMap((name) => {
    const { replicas, feedUrls = replicas.map(({ feedUrl }) => feedUrl) } = services[name];
    const text = feedUrls.length > 0 ? feedUrls.join(",") : "none";
    const prefix = toVariablePrefix(name);
    return [
      [`${prefix}_FEED_URL`, text],
      [`SUBGRAPH_FEED_URL_${prefix}`, text],
    ] as const;
  });
  return { ...Object.fromEntries(urls), ...endpointKeys };
}

function toVariables(services: PlacedServices, toName: (service: string) => string, path: string): Environment {
  const running = serviceNames.filter((name) => services[name].urls.length > 0);
  return Object.fromEntries(
    running.map((name) => [
      toName(toVariablePrefix(name)),
      services[name].urls.map((url) => `${url}${path}`).join(","),
    ]),
  );
}

function identityOf({ issuer, audience, jwksUrl }: TestIssuer): Environment {
  return { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
}
