import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/free-port";
import { ensureDatabase, removeLocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { journeyScopes } from "../journey/journey.ts";
import { writerId } from "../journey/seeded.ts";
import { type Balancer, startBalancer } from "../processes/balancer.ts";
import { migrateService, type Service, type ServiceFolder, startProcess } from "../processes/service.ts";
import { seed } from "../seed/seed.ts";

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
  /** Of the balancers before the doors. */
  readonly graphqlUrl: string;
  readonly restUrl: string;
  /** Of the one who writes. */
  readonly token: string;
}

const replicasCount = 2;
const probeEveryMs = 200;
/** Longer than a balancer takes to see that a door is not ready, and long enough for each client's next request. */
const drainDelayMs = 2_000;
const shutdownGraceMs = 8_000;
const tokenTtlSeconds = 3_600;
const supergraphFolder = fileURLToPath(new URL("../../supergraph", import.meta.url));

export interface PlatformOptions {
  /** What has to be ended, to be called last one first. */
  readonly ends: (() => unknown)[];
  readonly say: (line: string) => void;
  /** The folder for what the processes log. */
  readonly logs: string | undefined;
}

type StartReplicas = (
  folder: ServiceFolder,
  environment: Readonly<Record<string, string>>,
) => Promise<readonly Service[]>;

/** Each process on a port of its own. */
export async function startPlatform({ ends, say, logs }: PlatformOptions): Promise<Platform> {
  if (logs !== undefined) mkdirSync(logs, { recursive: true });
  const startReplicas: StartReplicas = (folder, environment) => startAll(folder, environment, { ends, logs });
  const issuer = await startTestIssuer();
  ends.push(() => issuer.stop());
  const urls = await startDatabases(ends);
  say("PostgreSQL runs");
  const services = Object.fromEntries(
    await Promise.all(
      serviceNames.map(async (name) => {
        const environment = { ...identityOf(issuer), ...usual, DATABASE_URL: urls[name] };
        await migrateService(`services/${name}`, environment);
        return [name, await startReplicas(`services/${name}`, environment)] as const;
      }),
    ),
  ) as Record<ServiceName, readonly Service[]>;
  await seed({ urls, scale: 1, progress: () => {} });
  say(`the services run, ${replicasCount} processes each, over seeded databases`);
  const doors = await startDoors(services, startReplicas, ends);
  say(`the doors run, ${replicasCount} processes each, behind a balancer`);
  const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  return {
    services: serviceNames.flatMap((name) => nameAll(name, services[name], undefined)),
    doors: doorNames.flatMap((name) => nameAll(name, doors[name].processes, doors[name].balancer)),
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
};

const usual = {
  ...patience,
  DRAIN_DELAY_MS: String(drainDelayMs),
  SHUTDOWN_GRACE_MS: String(shutdownGraceMs),
  LOG_LEVEL: "warn",
};

async function startDatabases(ends: (() => unknown)[]): Promise<Record<ServiceName, string>> {
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-rolling-"));
  const directory = join(folder, "postgres");
  ends.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => removeLocalPostgres(directory),
  );
  const postgres = await startLocalPostgres({ directory, port: await pickFreePort(), log: () => {} });
  ends.push(() => postgres.stop());
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const name of serviceNames) {
    urls[name] = await ensureDatabase(postgres.superuserUrl, { name, role: name, password: name });
  }
  return urls as Record<ServiceName, string>;
}

async function startDoors(
  services: Record<ServiceName, readonly Service[]>,
  startReplicas: StartReplicas,
  ends: (() => unknown)[],
) {
  const addresses = (path: string) => (name: ServiceName) => services[name].map(({ url }) => `${url}${path}`).join(",");
  const variables = (toName: (name: string) => string, toValue: (name: ServiceName) => string) =>
    Object.fromEntries(serviceNames.map((name) => [toName(name.toUpperCase()), toValue(name)]));
  const environments: Readonly<Record<DoorName, Readonly<Record<string, string>>>> = {
    gateway: {
      SUPERGRAPH_FILE: join(supergraphFolder, "supergraph.graphql"),
      ...variables((name) => `SUBGRAPH_URL_${name}`, addresses("/graphql")),
    },
    "rest-proxy": {
      ROUTES_FILE: join(supergraphFolder, "routes.json"),
      OPENAPI_FOLDER: join(supergraphFolder, "openapi"),
      ...variables((name) => `${name}_URL`, addresses("")),
    },
  };
  const started = doorNames.map(async (name) => {
    const processes = await startReplicas(name, { ...usual, ...environments[name] });
    const balancer = await startBalancer(
      processes.map(({ url }) => url),
      probeEveryMs,
    );
    ends.push(() => balancer.stop());
    return [name, { processes, balancer }] as const;
  });
  return Object.fromEntries(await Promise.all(started)) as Record<
    DoorName,
    { readonly processes: readonly Service[]; readonly balancer: Balancer }
  >;
}

function startAll(
  folder: ServiceFolder,
  environment: Readonly<Record<string, string>>,
  { ends, logs }: Pick<PlatformOptions, "ends" | "logs">,
): Promise<readonly Service[]> {
  const start = async (_: unknown, index: number) => {
    const port = await pickFreePort();
    const keep = logs === undefined ? undefined : keepIn(join(logs, `${basename(folder)}-${index + 1}.log`));
    const url = `http://127.0.0.1:${port}`;
    const process = await startProcess(folder, url, { ...environment, PORT: String(port) }, keep);
    // All is over by then: nobody has to be let go.
    ends.push(() => process.end("SIGKILL"));
    return process;
  };
  return Promise.all(Array.from({ length: replicasCount }, start));
}

function keepIn(file: string): (text: string) => void {
  writeFileSync(file, "");
  return (text) => appendFileSync(file, text);
}

function nameAll(name: string, processes: readonly Service[], balancer: Balancer | undefined): readonly Replica[] {
  return processes.map((process, index) => ({ name: `${name} ${index + 1}`, process, balancer }));
}

function identityOf({ issuer, audience, jwksUrl }: TestIssuer) {
  return { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
}
