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
import { migrateService, type Service } from "../processes/service.ts";
import { seed } from "../seed/seed.ts";
import { createNames, type Names } from "./names.ts";
import {
  createStarter,
  type Environment,
  placeByAddress,
  placeByName,
  type Placed,
  type StarterOptions,
  type StartReplicas,
} from "./replicas.ts";

const serviceNames = ["users", "posts", "comments", "orders"] as const;
type ServiceName = (typeof serviceNames)[number];
const doorNames = ["gateway", "rest-proxy"] as const;
type DoorName = (typeof doorNames)[number];

/** One of the two processes of a part. */
export interface Replica {
  /** Such as "posts 2". */
  readonly name: string;
  readonly process: Service;
  /** What clients reach it by, where there is such a thing. */
  readonly balancer: Balancer | undefined;
}

export interface Platform {
  readonly services: readonly Replica[];
  readonly doors: readonly Replica[];
  /** Gives the posts other addresses behind the same name, at once; undefined where this machine has no more. */
  readonly movePosts: Placed["move"];
  /** Of the balancers before the doors. */
  readonly graphqlUrl: string;
  readonly restUrl: string;
  /** Of the one who writes. */
  readonly token: string;
}

const probeEveryMs = 200;
/** Longer than a balancer takes to see that a door is not ready, and long enough for each client's next request. */
const drainDelayMs = 2_000;
const tokenTtlSeconds = 3_600;
const supergraphFolder = fileURLToPath(new URL("../../supergraph", import.meta.url));

export interface PlatformOptions extends StarterOptions {
  readonly print: (line: string) => void;
}

/** Each process on a port of its own; the posts behind a name. */
export async function startPlatform({ ends, print, logs }: PlatformOptions): Promise<Platform> {
  const start = createStarter({ ends, logs });
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-rolling-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const names = createNames(folder);
  const issuer = await startTestIssuer();
  ends.push(() => issuer.stop());
  const urls = await startDatabases(join(folder, "postgres"), ends);
  print("PostgreSQL runs");
  const placed = await startServices(start, urls, issuer, names);
  await seed({ urls, scale: 1, progress: () => {} });
  print("the services run, two processes each, over seeded databases");
  const doors = await startDoors(start, placed, names, ends);
  print("the doors run, two processes each, behind a balancer");
  const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  return {
    services: serviceNames.flatMap((name) => nameAll(name, placed[name].processes, undefined)),
    doors: doorNames.flatMap((name) => nameAll(name, doors[name].processes, doors[name].balancer)),
    movePosts: placed.posts.move,
    graphqlUrl: doors.gateway.balancer.url,
    restUrl: doors["rest-proxy"].balancer.url,
    token: await issuer.token(writerId, journeyScopes, { exp }),
  };
}

/** Restarts are the matter here, not speed: a machine that is busy with something else may make all of it slow, and nothing fail. */
const patience = {
  ACQUIRE_TIMEOUT_MS: "30000",
  LOCK_TIMEOUT_MS: "30000",
  STATEMENT_TIMEOUT_MS: "30000",
  SUBGRAPH_TIMEOUT_MS: "60000",
  UPSTREAM_TIMEOUT_MS: "60000",
  PLAN_TIMEOUT_MS: "60000",
  REQUEST_TIMEOUT_MS: "60000",
  SHUTDOWN_GRACE_MS: "60000",
};

const usual = {
  ...patience,
  DRAIN_DELAY_MS: String(drainDelayMs),
  LOG_LEVEL: "warn",
};

async function startDatabases(directory: string, ends: (() => unknown)[]): Promise<Record<ServiceName, string>> {
  ends.push(() => removeLocalPostgres(directory));
  const postgres = await startLocalPostgres({ directory, port: await pickFreePort(), log: () => {} });
  ends.push(() => postgres.stop());
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const name of serviceNames) {
    urls[name] = await ensureDatabase(postgres.superuserUrl, { name, role: name, password: name });
  }
  return urls as Record<ServiceName, string>;
}

type AllPlaced = Readonly<Record<ServiceName, Placed>>;

async function startServices(
  start: StartReplicas,
  urls: Readonly<Record<ServiceName, string>>,
  { issuer, audience, jwksUrl }: TestIssuer,
  names: Names,
): Promise<AllPlaced> {
  const identity = { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
  const placed = serviceNames.map(async (name) => {
    const folder = `services/${name}` as const;
    const environment = { ...identity, ...usual, DATABASE_URL: urls[name] };
    await migrateService(folder, environment);
    if (name === "posts") return [name, await placeByName(start, folder, environment, names)] as const;
    return [name, await placeByAddress(start, folder, environment)] as const;
  });
  return Object.fromEntries(await Promise.all(placed)) as AllPlaced;
}

type Doors = Readonly<Record<DoorName, { readonly processes: readonly Service[]; readonly balancer: Balancer }>>;

async function startDoors(start: StartReplicas, placed: AllPlaced, names: Names, ends: (() => unknown)[]) {
  const environments = environmentsOfDoors(placed);
  const started = doorNames.map(async (name) => {
    const environment = { ...usual, ...names.environment, ...environments[name] };
    const { processes } = await placeByAddress(start, name, environment);
    const instances = processes.map(({ url }) => url);
    const balancer = await startBalancer(instances, probeEveryMs);
    ends.push(() => balancer.stop());
    return [name, { processes, balancer }] as const;
  });
  return Object.fromEntries(await Promise.all(started)) as Doors;
}

function environmentsOfDoors(placed: AllPlaced): Readonly<Record<DoorName, Environment>> {
  const variables = (toName: (name: string) => string, path: string) =>
    Object.fromEntries(serviceNames.map((name) => [toName(name.toUpperCase()), placed[name].address(path)]));
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

function nameAll(name: string, processes: readonly Service[], balancer: Balancer | undefined): readonly Replica[] {
  return processes.map((process, index) => ({ name: `${name} ${index + 1}`, process, balancer }));
}
