// The processes under test: two of each service, of the gateway and of the REST proxy, with a balancer in front of the last two.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { ensureDatabase, removeLocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { journeyScopes } from "../journey/journey.ts";
import { writerId } from "../journey/seeded.ts";
import { type Balancer, startBalancer } from "../processes/balancer.ts";
import { migrateService, type PlatformProcess } from "../processes/service.ts";
import { seed } from "../seed/seed.ts";
import { createTestDns, type TestDns } from "./test-dns.ts";
import {
  createReplicaStarter,
  type Environment,
  startAtAddresses,
  startBehindName,
  type StartedService,
  type StarterOptions,
  type StartReplicas,
} from "./replicas.ts";

const serviceNames = ["users", "posts", "comments", "orders"] as const;
type ServiceName = (typeof serviceNames)[number];
const publicPartNames = ["gateway", "rest-proxy"] as const;
type PublicPartName = (typeof publicPartNames)[number];

/** One of the two processes of a part (a service, the gateway or the REST proxy). */
export interface PartReplica {
  /** Such as "posts 2". */
  readonly name: string;
  readonly process: PlatformProcess;
  /** The load balancer in front of it; undefined for services. */
  readonly balancer: Balancer | undefined;
}

export interface RollingPlatform {
  readonly services: readonly PartReplica[];
  readonly publicParts: readonly PartReplica[];
  /** Replaces the addresses behind the name of posts; undefined if this machine has no further loopback addresses. */
  readonly movePosts: StartedService["moveAddresses"];
  /** The URLs of the balancers in front of gateway and REST proxy. */
  readonly graphqlUrl: string;
  readonly restUrl: string;
  /** The writer's token. */
  readonly token: string;
}

const probeEveryMs = 200;
/** Longer than the balancer takes to find that a process is not ready, and long enough for each client's next request. */
const drainDelayMs = 2_000;
const tokenTtlSeconds = 3_600;
const supergraphFolder = fileURLToPath(new URL("../../supergraph", import.meta.url));

export interface RollingPlatformOptions extends StarterOptions {
  readonly print: (line: string) => void;
}

/** Starts all processes. posts is reached by a name, the other services by their addresses. */
export async function startPlatform({ cleanups, print, logs }: RollingPlatformOptions): Promise<RollingPlatform> {
  const start = createReplicaStarter({ cleanups, logs });
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-rolling-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const names = createTestDns(folder);
  const issuer = await startTestIssuer();
  cleanups.push(() => issuer.stop());
  const urls = await startDatabases(join(folder, "postgres"), cleanups);
  print("PostgreSQL runs");
  const services = await startServices(start, urls, issuer, names);
  await seed({ urls, scale: 1, progress: () => {} });
  print("the services run, two processes each, with seeded databases");
  const publicParts = await startPublicParts(start, services, names, cleanups);
  print("gateway and REST proxy run, two processes each, behind a balancer");
  const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  return {
    services: serviceNames.flatMap((name) => toReplicas(name, services[name].processes, undefined)),
    publicParts: publicPartNames.flatMap((name) =>
      toReplicas(name, publicParts[name].processes, publicParts[name].balancer),
    ),
    movePosts: services.posts.moveAddresses,
    graphqlUrl: publicParts.gateway.balancer.url,
    restUrl: publicParts["rest-proxy"].balancer.url,
    token: await issuer.token(writerId, journeyScopes, { exp }),
  };
}

/** This check tests restarts, not speed: with long timeouts no request fails on a busy, slow machine. */
const longTimeouts = {
  ACQUIRE_TIMEOUT_MS: "30000",
  LOCK_TIMEOUT_MS: "30000",
  STATEMENT_TIMEOUT_MS: "30000",
  SUBGRAPH_TIMEOUT_MS: "60000",
  UPSTREAM_TIMEOUT_MS: "60000",
  PLAN_TIMEOUT_MS: "60000",
  REQUEST_TIMEOUT_MS: "60000",
  SHUTDOWN_GRACE_MS: "60000",
};

const commonSettings = {
  ...longTimeouts,
  DRAIN_DELAY_MS: String(drainDelayMs),
  LOG_LEVEL: "warn",
};

async function startDatabases(directory: string, cleanups: (() => unknown)[]): Promise<Record<ServiceName, string>> {
  cleanups.push(() => removeLocalPostgres(directory));
  const postgres = await startLocalPostgres({ directory, port: await pickFreePort(), log: () => {} });
  cleanups.push(() => postgres.stop());
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const name of serviceNames) {
    urls[name] = await ensureDatabase(postgres.superuserUrl, { name, role: name, password: name });
  }
  return urls as Record<ServiceName, string>;
}

type StartedServices = Readonly<Record<ServiceName, StartedService>>;

async function startServices(
  start: StartReplicas,
  urls: Readonly<Record<ServiceName, string>>,
  { issuer, audience, jwksUrl }: TestIssuer,
  names: TestDns,
): Promise<StartedServices> {
  const identity = { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
  const placed = serviceNames.map(async (name) => {
    const folder = `services/${name}` as const;
    const environment = { ...identity, ...commonSettings, DATABASE_URL: urls[name] };
    await migrateService(folder, environment);
    if (name === "posts") return [name, await startBehindName(start, folder, environment, names)] as const;
    return [name, await startAtAddresses(start, folder, environment)] as const;
  });
  return Object.fromEntries(await Promise.all(placed)) as StartedServices;
}

type PublicParts = Readonly<
  Record<PublicPartName, { readonly processes: readonly PlatformProcess[]; readonly balancer: Balancer }>
>;

async function startPublicParts(
  start: StartReplicas,
  placed: StartedServices,
  names: TestDns,
  cleanups: (() => unknown)[],
) {
  const environments = publicPartEnvironments(placed);
  const started = publicPartNames.map(async (name) => {
    const environment = { ...commonSettings, ...names.environment, ...environments[name] };
    const { processes } = await startAtAddresses(start, name, environment);
    const instances = processes.map(({ url }) => url);
    const balancer = await startBalancer(instances, probeEveryMs);
    cleanups.push(() => balancer.stop());
    return [name, { processes, balancer }] as const;
  });
  return Object.fromEntries(await Promise.all(started)) as PublicParts;
}

function publicPartEnvironments(placed: StartedServices): Readonly<Record<PublicPartName, Environment>> {
  const variables = (toName: (name: string) => string, path: string) =>
    Object.fromEntries(serviceNames.map((name) => [toName(name.toUpperCase()), placed[name].urls(path)]));
  return {
    gateway: {
      SUPERGRAPH_FILE: join(supergraphFolder, "supergraph.graphql"),
      ...variables((name) => `SUBGRAPH_URL_${name}`, "/graphql"),
    },
    "rest-proxy": {
      ROUTES_FILE: join(supergraphFolder, "routes.json"),
      OPENAPI_FOLDER: join(supergraphFolder, "openapi"),
      ...variables((name) => `${name}_URL`, ""),
    },
  };
}

function toReplicas(
  name: string,
  processes: readonly PlatformProcess[],
  balancer: Balancer | undefined,
): readonly PartReplica[] {
  return processes.map((process, index) => ({ name: `${name} ${index + 1}`, process, balancer }));
}
