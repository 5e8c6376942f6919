import { join } from "node:path";
import { ensureDatabase } from "@tributary/kit/local-postgres";
import pg from "pg";
import { applyMigrations } from "./migrations.ts";
import { type ServiceName, serviceNames } from "./parts.ts";
import type { Secrets } from "./secrets.ts";
import { StartError } from "./start-error.ts";

type DatabaseUrls = Readonly<Record<ServiceName, string>>;

/** What scripts/seed/seed.ts offers. */
export interface Seeding {
  /** Empties the tables and fills them; killed half way it counts as not done. */
  seed(options: { readonly urls: DatabaseUrls; readonly scale: number; progress(line: string): void }): Promise<void>;
  /** The scale of what is there; undefined where nothing, or only a part, is. */
  seededScale(urls: DatabaseUrls): Promise<number | undefined>;
}

export interface DatabasesOptions {
  readonly root: string;
  readonly superuserUrl: string;
  readonly secrets: Secrets;
  readonly loadSeeding: () => Promise<Seeding>;
  /** Undefined keeps the scale that is there, and seeds 1 where nothing is. */
  readonly scale: number | undefined;
  say(name: string, line: string): void;
}

/** Makes the services' databases where they are missing, brings them up to date, and fills them where they are empty. */
export async function prepareDatabases(options: DatabasesOptions): Promise<void> {
  const { say } = options;
  let urls = await makeDatabases(options);
  const seeding = await options.loadSeeding();
  const present = await seeding.seededScale(urls);
  const scale = options.scale ?? present ?? 1;
  if (present === scale) return;
  if (present !== undefined) {
    say("seed", `scale ${scale} instead of ${present}: beginning again, with new databases`);
    await dropDatabases(options.superuserUrl);
    urls = await makeDatabases(options);
  }
  await seeding.seed({ urls, scale, progress: (line) => say("seed", line) });
}

/** Applies one service's new migrations. Throws StartError with the reason. */
export async function migrateService(
  name: ServiceName,
  databaseUrl: string,
  { root, say }: Pick<DatabasesOptions, "root" | "say">,
): Promise<void> {
  const folder = join(root, "services", name, "migrations");
  try {
    await applyMigrations({ name, databaseUrl, folder, say: (line) => say(name, line) });
  } catch (cause) {
    throw new StartError(`The migrations of ${name} failed: ${String(cause)}`, { cause });
  }
}

async function makeDatabases(options: DatabasesOptions): Promise<DatabaseUrls> {
  const entries = await Promise.all(
    serviceNames.map(async (name) => {
      const password = options.secrets.databasePasswords[name];
      const url = await ensureDatabase(options.superuserUrl, { name, role: name, password });
      await migrateService(name, url, options);
      return [name, url] as const;
    }),
  );
  return Object.fromEntries(entries) as Record<ServiceName, string>;
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
