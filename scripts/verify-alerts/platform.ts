import { appendFileSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { ensureDatabase, removeLocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { journeyScopes } from "../journey/journey.ts";
import { writerId } from "../journey/seeded.ts";
import { migrateService, type Service, type ServiceFolder, startProcess } from "../processes/service.ts";
import { seed } from "../seed/seed.ts";
import { type Relay, startRelay } from "./relay.ts";

const serviceNames = ["users", "posts", "comments", "orders"] as const;
type ServiceName = (typeof serviceNames)[number];
export type UnitName = ServiceName | "gateway" | "rest-proxy";
type Environment = Readonly<Record<string, string>>;

/** A process of a unit. */
interface Unit extends Service {
  /** Where its metrics are, without http://. */
  readonly admin: string;
}

export interface Platform {
  /** Two processes of posts, one of each other unit. */
  readonly units: Readonly<Record<UnitName, readonly Unit[]>>;
  /** Stands before comments; its metrics are its own. */
  readonly relay: Relay;
  readonly postgres: { stop(): Promise<void>; start(): Promise<void> };
  readonly databaseUrls: Readonly<Record<ServiceName, string>>;
  /** What the gateway reads; the platform's own is `supergraphSource`. */
  readonly supergraphFile: string;
  readonly graphqlUrl: string;
  readonly restUrl: string;
  /** Of the one who writes. */
  readonly token: string;
}

export interface PlatformOptions {
  readonly folder: string;
  readonly logs: string | undefined;
  /** What has to be ended, to be called last one first. */
  readonly ends: (() => unknown)[];
}

const supergraphFolder = fileURLToPath(new URL("../../supergraph", import.meta.url));
export const supergraphSource = join(supergraphFolder, "supergraph.graphql");
const tokenTtlSeconds = 7_200;

/** Processes over seeded databases, with metrics on as in production. */
export async function startPlatform({ folder, logs, ends }: PlatformOptions): Promise<Platform> {
  const startUnit = createStarter(logs, ends);
  const issuer = await startTestIssuer();
  ends.push(() => issuer.stop());
  const { postgres, databaseUrls } = await startDatabases(join(folder, "postgres"), ends);
  const { services, relay, addresses } = await startServices(startUnit, databaseUrls, issuer, ends);
  await seed({ urls: databaseUrls, scale: 1, progress: () => {} });
  const supergraphFile = join(folder, "supergraph.graphql");
  copyFileSync(supergraphSource, supergraphFile);
  const gateway = await startUnit("gateway", {
    SUPERGRAPH_FILE: supergraphFile,
    ...variables(addresses, (name) => `SUBGRAPH_URL_${name}`, "/graphql"),
  });
  const restProxy = await startUnit("rest-proxy", {
    ROUTES_FILE: join(supergraphFolder, "routes.json"),
    OPENAPI_FOLDER: join(supergraphFolder, "openapi"),
    TRUSTED_PROXIES: "none",
    ...variables(addresses, (name) => `${name}_URL`, ""),
  });
  const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  return {
    units: { ...services, gateway: [gateway], "rest-proxy": [restProxy] },
    relay,
    postgres,
    databaseUrls,
    supergraphFile,
    graphqlUrl: gateway.url,
    restUrl: restProxy.url,
    token: await issuer.token(writerId, journeyScopes, { exp }),
  };
}

type StartUnit = (folder: ServiceFolder, environment: Environment) => Promise<Unit>;

function createStarter(logs: string | undefined, ends: (() => unknown)[]): StartUnit {
  if (logs !== undefined) mkdirSync(logs, { recursive: true });
  let count = 0;
  return async (folder, environment) => {
    const [port, adminPort] = [await pickFreePort(), await pickFreePort()];
    const file = logs === undefined ? undefined : join(logs, `${folder.replaceAll("/", "-")}-${++count}.log`);
    const ports = { PORT: String(port), ADMIN_PORT: String(adminPort), LOG_LEVEL: "warn" };
    const service = await startProcess(folder, `http://127.0.0.1:${port}`, { ...environment, ...ports }, (text) => {
      if (file !== undefined) appendFileSync(file, text);
    });
    ends.push(() => service.end("SIGKILL"));
    return { ...service, admin: `127.0.0.1:${adminPort}` };
  };
}

async function startDatabases(directory: string, ends: (() => unknown)[]) {
  ends.push(() => removeLocalPostgres(directory));
  const options = { directory, port: await pickFreePort(), log: () => {} };
  let server = await startLocalPostgres(options);
  ends.push(() => server.stop());
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const name of serviceNames) {
    urls[name] = await ensureDatabase(server.superuserUrl, { name, role: name, password: name });
  }
  const start = async () => void (server = await startLocalPostgres(options));
  const postgres = { stop: () => server.stop(), start };
  return { postgres, databaseUrls: urls as Record<ServiceName, string> };
}

async function startServices(
  startUnit: StartUnit,
  databaseUrls: Readonly<Record<ServiceName, string>>,
  { issuer, audience, jwksUrl }: TestIssuer,
  ends: (() => unknown)[],
) {
  const start = async (name: ServiceName, count: number): Promise<readonly Unit[]> => {
    const identity = { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
    const environment = { ...identity, DATABASE_URL: databaseUrls[name] };
    await migrateService(`services/${name}`, environment);
    return Promise.all(Array.from({ length: count }, () => startUnit(`services/${name}`, environment)));
  };
  const [users, posts] = [await start("users", 1), await start("posts", 2)];
  const [comments, orders] = [await start("comments", 1), await start("orders", 1)];
  const relayPort = await pickFreePort();
  const relay = await startRelay(relayPort, comments[0]?.url ?? "");
  ends.push(() => relay.stop());
  const urlsOf = (units: readonly Unit[]) => units.map(({ url }) => url);
  const behindRelay = [`http://127.0.0.1:${relayPort}`];
  const addresses = { USERS: urlsOf(users), POSTS: urlsOf(posts), COMMENTS: behindRelay, ORDERS: urlsOf(orders) };
  return { services: { users, posts, comments, orders }, relay, addresses };
}

function variables(
  addresses: Readonly<Record<string, readonly string[]>>,
  toName: (name: string) => string,
  path: string,
): Environment {
  return Object.fromEntries(
    Object.entries(addresses).map(([name, urls]) => [toName(name), urls.map((url) => `${url}${path}`).join(",")]),
  );
}
