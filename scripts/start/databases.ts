import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureDatabase } from "@tributary/kit/local-postgres";
import pg from "pg";
import { hasPendingMigrations } from "./migrations.ts";
import { type ServiceName, serviceNames } from "./parts.ts";
import type { Secrets } from "./secrets.ts";
import { StartError } from "./start-error.ts";

export type DatabaseUrls = Readonly<Record<ServiceName, string>>;

/** What scripts/seed/seed.ts offers. */
export interface Seeding {
  seed(options: { readonly urls: DatabaseUrls; readonly scale: number; progress(line: string): void }): Promise<void>;
  /** The scale of what is there; undefined where nothing, or only a part, is. */
  seededScale(urls: DatabaseUrls): Promise<number | undefined>;
}

export interface DatabasesOptions {
  readonly root: string;
  readonly superuserUrl: string;
  readonly secrets: Secrets;
  readonly environmentOf: (service: ServiceName) => Readonly<Record<string, string | undefined>>;
  readonly loadSeeding: () => Promise<Seeding>;
  /** Undefined keeps the scale that is there, and seeds 1 where nothing is. */
  readonly scale: number | undefined;
  readonly signal: AbortSignal;
  say(name: string, line: string): void;
}

const run = promisify(execFile);
const outputBytesMax = 4 * 1024 * 1024;

/** Makes the services' databases where they are missing, brings them up to date, and fills them where they are empty. */
export async function prepareDatabases(options: DatabasesOptions): Promise<void> {
  const urls = await ensureDatabases(options);
  await migrateAll(urls, options);
  const seeding = await options.loadSeeding();
  const present = await seeding.seededScale(urls);
  if (present !== undefined && (options.scale ?? present) === present) return;
  const scale = options.scale ?? 1;
  if (present !== undefined) options.say("seed", `scale ${scale} instead of ${present}: beginning again`);
  // Half a seeding may be left from a start that was killed, and nobody may add to another scale's rows.
  await dropDatabases(options.superuserUrl);
  await migrateAll(await ensureDatabases(options), options);
  await seeding.seed({ urls, scale, progress: (line) => options.say("seed", line) });
}

/** Applies one service's new migrations, in a process of its own. Throws StartError with what it said. */
export async function migrateService(
  service: ServiceName,
  { root, environmentOf, signal, say }: Pick<DatabasesOptions, "root" | "environmentOf" | "signal" | "say">,
): Promise<void> {
  const entry = join(root, "services", service, "src", "main.ts");
  const options = { cwd: root, env: environmentOf(service), signal, maxBuffer: outputBytesMax };
  try {
    const { stdout } = await run(process.execPath, [entry, "migrate"], options);
    for (const line of stdout.trim().split("\n")) say(service, line);
  } catch (error) {
    signal.throwIfAborted();
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new StartError(`The migrations of ${service} failed.\n${stdout}${stderr}`.trimEnd());
  }
}

async function ensureDatabases({ superuserUrl, secrets }: DatabasesOptions): Promise<DatabaseUrls> {
  const entries = await Promise.all(
    serviceNames.map(async (name) => {
      const password = secrets.databasePasswords[name];
      return [name, await ensureDatabase(superuserUrl, { name, role: name, password })] as const;
    }),
  );
  return Object.fromEntries(entries) as Record<ServiceName, string>;
}

async function migrateAll(urls: DatabaseUrls, options: DatabasesOptions): Promise<void> {
  await Promise.all(
    serviceNames.map(async (name) => {
      const folder = join(options.root, "services", name, "migrations");
      if (await hasPendingMigrations(urls[name], folder)) await migrateService(name, options);
    }),
  );
}

async function dropDatabases(superuserUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    for (const name of serviceNames) await client.query(`drop database if exists ${name} with (force)`);
  } finally {
    await client.end();
  }
}
