// The measured processes: one of each service, the gateway and the REST proxy.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { ensureDatabase, removeLocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { journeyScopes } from "../journey/journey.ts";
import { writerId } from "../journey/seeded.ts";
import { migrateService, type PartFolder, startProcess } from "../processes/service.ts";
import { seed } from "../seed/seed.ts";

export interface MeasuredProcess {
  readonly url: string;
  readonly adminUrl: string;
}

/** One process of each service, the gateway and the REST proxy, with seeded databases, and with metrics as in production. */
export interface CapacityPlatform {
  readonly processes: ReadonlyMap<string, MeasuredProcess>;
  readonly token: string;
}

const serviceNames = ["users", "posts", "comments", "orders"] as const;
const supergraphFolder = fileURLToPath(new URL("../../supergraph", import.meta.url));
const tokenTtlSeconds = 86_400;

type Cleanups = (() => unknown)[];
type Environment = Readonly<Record<string, string>>;

/** @param cleanups receives functions that stop what was started; call them in reverse order. */
export async function startPlatform(cleanups: Cleanups, print: (line: string) => void): Promise<CapacityPlatform> {
  const issuer = await startTestIssuer();
  cleanups.push(() => issuer.stop());
  const urls = await startDatabases(cleanups);
  const processes = new Map<string, MeasuredProcess>();
  for (const name of serviceNames) {
    const environment = { ...identityOf(issuer), DATABASE_URL: urls[name] };
    await migrateService(`services/${name}`, environment);
    processes.set(name, await startMeasuredProcess(`services/${name}`, environment, cleanups));
  }
  await seed({ urls, scale: 1, progress: () => {} });
  for (const [name, environment] of Object.entries(proxyEnvironments(processes)))
    processes.set(name, await startMeasuredProcess(name as PartFolder, environment, cleanups));
  print("one process of each service, the gateway and the REST proxy run, with seeded databases");
  const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  return { processes, token: await issuer.token(writerId, journeyScopes, { exp }) };
}

async function startDatabases(cleanups: Cleanups): Promise<Record<(typeof serviceNames)[number], string>> {
  const folder = mkdtempSync(join(tmpdir(), "tributary-capacity-"));
  const directory = join(folder, "postgres");
  cleanups.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => removeLocalPostgres(directory),
  );
  const postgres = await startLocalPostgres({ directory, port: await pickFreePort(), log: () => {} });
  cleanups.push(() => postgres.stop());
  const [users, posts, comments, orders] = await Promise.all(
    serviceNames.map((name) => ensureDatabase(postgres.superuserUrl, { name, role: name, password: name })),
  );
  return { users: users ?? "", posts: posts ?? "", comments: comments ?? "", orders: orders ?? "" };
}

function proxyEnvironments(
  processes: ReadonlyMap<string, MeasuredProcess>,
): Readonly<Record<"gateway" | "rest-proxy", Environment>> {
  const addresses = (toName: (name: string) => string, path: string) =>
    Object.fromEntries([...processes].map(([name, { url }]) => [toName(name.toUpperCase()), `${url}${path}`]));
  return {
    gateway: {
      SUPERGRAPH_FILE: join(supergraphFolder, "supergraph.graphql"),
      ...addresses((name) => `SUBGRAPH_URL_${name}`, "/graphql"),
    },
    "rest-proxy": {
      ROUTES_FILE: join(supergraphFolder, "routes.json"),
      OPENAPI_FOLDER: join(supergraphFolder, "openapi"),
      ...addresses((name) => `${name}_URL`, ""),
      // One client sends all requests: the rate limit counts them as in production, and is too high to reject one.
      ...{ RATE_LIMIT_EXEMPT: "none", RATE_LIMIT_READS_PER_MINUTE: "100000000" },
    },
  };
}

async function startMeasuredProcess(
  folder: PartFolder,
  environment: Environment,
  cleanups: Cleanups,
): Promise<MeasuredProcess> {
  const [port, adminPort] = [await pickFreePort(), await pickFreePort()];
  const url = `http://127.0.0.1:${port}`;
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort), LOG_LEVEL: "warn" };
  const process = await startProcess(folder, url, { ...environment, ...ports });
  cleanups.push(() => process.end("SIGKILL"));
  return { url, adminUrl: `http://127.0.0.1:${adminPort}` };
}

function identityOf({ issuer, audience, jwksUrl }: TestIssuer): Environment {
  return { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
}
