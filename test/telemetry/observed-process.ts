import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { expect, vi } from "vitest";
import { ensureDatabase } from "../../kit/src/local-postgres/local-postgres.ts";
import type { TestIssuer } from "../../kit/src/testing/issuer.ts";

/** A process of ours with everything on that shows what it does. */
export interface ObservedProcess {
  readonly url: string;
  readonly adminUrl: string;
  /** One statement in its database, by its own role. */
  query(statement: string): Promise<void>;
  /** All that it has written on both its streams. */
  written(): string;
  /** By SIGTERM; resolves with its exit code. */
  stop(): Promise<number | null>;
}

export interface ObservedOptions {
  readonly postgresUrl: string;
  readonly issuer: TestIssuer;
  readonly collectorUrl: string;
  /** Over what is on: an empty value takes a variable away. */
  readonly environment?: Environment;
}

/** A service of that name over a fresh database, migrated and empty. */
export async function startObservedService(service: string, o: ObservedOptions): Promise<ObservedProcess> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const databaseUrl = await ensureDatabase(o.postgresUrl, { name, role: name, password: "test" });
  const environment = { DATABASE_URL: databaseUrl, ISSUER: o.issuer.issuer, JWKS_URL: o.issuer.jwksUrl };
  const main = `services/${service}/src/main.ts`;
  await once(spawnMain(main, environment, ["migrate"]), "exit");
  const running = await startObserved(main, { ...environment, ...everythingOn(o.collectorUrl), ...o.environment });
  return { ...running, query: (statement) => query(databaseUrl, statement) };
}

/** The gateway or the REST proxy, with what it needs to find the services; ready to answer. */
export async function startObservedDoor(
  door: "gateway" | "rest-proxy",
  collectorUrl: string,
  environment: Environment,
): Promise<Omit<ObservedProcess, "query">> {
  const running = await startObserved(`${door}/src/main.ts`, { ...everythingOn(collectorUrl), ...environment });
  await vi.waitFor(async () => expect((await fetch(`${running.url}/health/ready`)).status).toBe(200), 30_000);
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

function everythingOn(collectorUrl: string): Environment {
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
  child.once("exit", () => listening.reject(new Error(`${main} ended:\n${text}`)));
  await listening.promise;
  return {
    url: addresses.get("listening") ?? "",
    adminUrl: (addresses.get("metrics listening") ?? "").replace(/\/metrics$/, ""),
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
    return {}; // standard error is for people
  }
}

function spawnMain(main: string, environment: Environment, args: readonly string[] = []): ChildProcess {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const env = { PATH: process.env["PATH"], ...environment };
  const child = spawn(process.execPath, [main, ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  // A test that failed stops nobody.
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}
