import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { expect } from "vitest";
import { ensureDatabase } from "../../kit/src/local-postgres/local-postgres.ts";
import { migrate } from "../../kit/src/postgres/migrate.ts";
import { silentLog } from "../../kit/src/process/log.ts";
import type { TestIssuer } from "../../kit/src/testing/issuer.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A Tributary process with all logs, metrics and traces enabled. */
export interface ObservedProcess {
  readonly url: string;
  readonly adminUrl: string;
  /** Of a service's change feed; its key is the one for development. */
  readonly feedUrl: string;
  query(statement: string): Promise<void>;
  /** The output so far on stdout and stderr. */
  written(): string;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface ObservedOptions {
  readonly postgresUrl: string;
  readonly issuer: TestIssuer;
  readonly collectorUrl: string;
  /** Overrides of the telemetry variables; an empty value unsets a variable. */
  readonly environment?: Environment;
}

/** Starts a service with a new database that is migrated and empty. */
export async function startObservedService(service: string, o: ObservedOptions): Promise<ObservedProcess> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const databaseUrl = await ensureDatabase(o.postgresUrl, { name, role: name, password: "test" });
  const environment = { DATABASE_URL: databaseUrl, ISSUER: o.issuer.issuer, JWKS_URL: o.issuer.jwksUrl };
  await migrate({ databaseUrl, directory: `${root}services/${service}/migrations`, log: silentLog });
  const running = await startObserved(`services/${service}/src/main.ts`, {
    ...environment,
    ...enableTelemetry(o.collectorUrl),
    ...o.environment,
  });
  return { ...running, query: (statement) => query(databaseUrl, statement) };
}

/** Starts the gateway or the REST proxy and waits until it is ready. `environment` has the services' addresses. */
export async function startObservedEntryPoint(
  folder: "gateway" | "rest-proxy",
  collectorUrl: string,
  environment: Environment,
): Promise<Omit<ObservedProcess, "query">> {
  const running = await startObserved(`${folder}/src/main.ts`, { ...enableTelemetry(collectorUrl), ...environment });
  await expect.poll(async () => (await fetch(`${running.url}/health/ready`)).status).toBe(200);
  return running;
}

async function query(databaseUrl: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function enableTelemetry(collectorUrl: string): Environment {
  return {
    PORT: "0",
    ADMIN_PORT: "0",
    LOG_LEVEL: "trace",
    ACCESS_LOG: "all",
    OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
    OTEL_TRACES_SAMPLER: "always_on",
  };
}

type Environment = Readonly<Record<string, string>>;

async function startObserved(main: string, environment: Environment): Promise<Omit<ObservedProcess, "query">> {
  const child = spawnMain(main, environment);
  let text = "";
  const addresses = new Map<string, string>();
  const listening = Promise.withResolvers<void>();
  const read = (chunk: Buffer) => {
    text += chunk.toString();
    for (const line of text.split("\n").slice(0, -1)) {
      const { url, msg } = readLine(line);
      if (url !== undefined && msg !== undefined) addresses.set(msg, url);
    }
    if (addresses.has("listening")) listening.resolve();
  };
  child.stdout?.on("data", read);
  child.stderr?.on("data", read);
  child.once("exit", () => listening.reject(new Error(`${main} exited:\n${text}`)));
  await listening.promise;
  return {
    url: addresses.get("listening") ?? "",
    adminUrl: (addresses.get("metrics listening") ?? "").replace(/\/metrics$/, ""),
    feedUrl: addresses.get("change feed listening") ?? "",
    written: () => text,
    async stop() {
      if (child.exitCode !== null) return child.exitCode;
      child.kill("SIGTERM");
      const [code] = (await once(child, "exit")) as [number | null];
      return code;
    },
  };
}

function readLine(line: string): { readonly url?: string; readonly msg?: string } {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {}; // Lines on stderr are plain text.
  }
}

function spawnMain(main: string, environment: Environment): ChildProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...environment };
  const child = spawn(process.execPath, [main], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  // A failed test does not stop its processes.
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  return child;
}
