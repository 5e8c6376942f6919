// The platform under test, with a proxy in front of comments that can inject faulty responses.
import { appendFileSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { ensureDatabase, removeLocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { journeyScopes } from "../journey/journey.ts";
import { writerId } from "../journey/seeded.ts";
import { migrateService, type PlatformProcess, type PartFolder, startProcess } from "../processes/service.ts";
import { seed } from "../seed/seed.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

const serviceNames = ["users", "posts", "comments", "orders"] as const;
type ServiceName = (typeof serviceNames)[number];
export type UnitName = ServiceName | "gateway" | "rest-proxy";
type Environment = Readonly<Record<string, string>>;

/** A process of a unit (a service, the gateway or the REST proxy). */
interface UnitProcess extends PlatformProcess {
  /** Host and port of its metrics. */
  readonly admin: string;
}

export interface AlertPlatform {
  /** Two processes of posts, one of each other unit. */
  readonly units: Readonly<Record<UnitName, readonly UnitProcess[]>>;
  /** The proxy in front of comments. Prometheus scrapes comments directly. */
  readonly faultProxy: FaultProxy;
  readonly postgres: { stop(): Promise<void>; start(): Promise<void> };
  readonly databaseUrls: Readonly<Record<ServiceName, string>>;
  /** The file that the gateway reads, a copy of `supergraphSource`. */
  readonly supergraphFile: string;
  readonly graphqlUrl: string;
  readonly restUrl: string;
  /** The writer's token. */
  readonly token: string;
}

export interface AlertPlatformOptions {
  readonly folder: string;
  readonly logs: string | undefined;
  /** Receives functions that stop what was started; call them in reverse order. */
  readonly cleanups: (() => unknown)[];
}

const supergraphFolder = fileURLToPath(new URL("../../supergraph", import.meta.url));
export const supergraphSource = join(supergraphFolder, "supergraph.graphql");
const tokenTtlSeconds = 7_200;

/** Starts the platform's processes with seeded databases, and with metrics as in production. */
export async function startPlatform({ folder, logs, cleanups }: AlertPlatformOptions): Promise<AlertPlatform> {
  const startUnit = createUnitStarter(logs, cleanups);
  const issuer = await startTestIssuer();
  cleanups.push(() => issuer.stop());
  const { postgres, databaseUrls } = await startDatabases(join(folder, "postgres"), cleanups);
  const { services, faultProxy, addresses } = await startServices(startUnit, databaseUrls, issuer, cleanups);
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
    faultProxy,
    postgres,
    databaseUrls,
    supergraphFile,
    graphqlUrl: gateway.url,
    restUrl: restProxy.url,
    token: await issuer.token(writerId, journeyScopes, { exp }),
  };
}

type StartUnit = (folder: PartFolder, environment: Environment) => Promise<UnitProcess>;

function createUnitStarter(logs: string | undefined, cleanups: (() => unknown)[]): StartUnit {
  if (logs !== undefined) mkdirSync(logs, { recursive: true });
  let count = 0;
  return async (folder, environment) => {
    const [port, adminPort] = [await pickFreePort(), await pickFreePort()];
    const file = logs === undefined ? undefined : join(logs, `${folder.replaceAll("/", "-")}-${++count}.log`);
    const ports = { PORT: String(port), ADMIN_PORT: String(adminPort), LOG_LEVEL: "warn" };
    const service = await startProcess(folder, `http://127.0.0.1:${port}`, { ...environment, ...ports }, (text) => {
      if (file !== undefined) appendFileSync(file, text);
    });
    cleanups.push(() => service.end("SIGKILL"));
    return { ...service, admin: `127.0.0.1:${adminPort}` };
  };
}

async function startDatabases(directory: string, cleanups: (() => unknown)[]) {
  cleanups.push(() => removeLocalPostgres(directory));
  const options = { directory, port: await pickFreePort(), log: () => {} };
  let server = await startLocalPostgres(options);
  cleanups.push(() => server.stop());
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
  cleanups: (() => unknown)[],
) {
  const start = async (name: ServiceName, count: number): Promise<readonly UnitProcess[]> => {
    const identity = { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
    const environment = { ...identity, DATABASE_URL: databaseUrls[name] };
    await migrateService(`services/${name}`, environment);
    return Promise.all(Array.from({ length: count }, () => startUnit(`services/${name}`, environment)));
  };
  const [users, posts] = [await start("users", 1), await start("posts", 2)];
  const [comments, orders] = [await start("comments", 1), await start("orders", 1)];
  const faultProxyPort = await pickFreePort();
  const faultProxy = await startFaultProxy(faultProxyPort, comments[0]?.url ?? "");
  cleanups.push(() => faultProxy.stop());
  const urlsOf = (units: readonly UnitProcess[]) => units.map(({ url }) => url);
  const commentsUrls = [`http://127.0.0.1:${faultProxyPort}`];
  const addresses = { USERS: urlsOf(users), POSTS: urlsOf(posts), COMMENTS: commentsUrls, ORDERS: urlsOf(orders) };
  return { services: { users, posts, comments, orders }, faultProxy, addresses };
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
