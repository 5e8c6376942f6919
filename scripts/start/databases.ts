import { join } from "node:path";
import { ensureDatabase } from "@tributary/kit/local-postgres";
import pg from "pg";
import { applyMigrations } from "./migrations.ts";
import { type ServiceName, serviceNames } from "./parts.ts";
import type { Secrets } from "./secrets.ts";
import { StartError } from "./start-error.ts";

type DatabaseUrls = Readonly<Record<ServiceName, string>>;

/** The part of scripts/seed/seed.ts that a start uses. Services without seed data are not its concern. */
export interface Seeding {
  /** The services whose data is of another scale, or was not seeded. */
  findOtherScale(urls: DatabaseUrls, scale: number): Promise<readonly ServiceName[]>;
  /** Fills databases that are empty and were never seeded; killed half way it counts as not done. */
  seedEmpty(options: {
    readonly urls: DatabaseUrls;
    readonly scale: number | undefined;
    progress(line: string): void;
  }): Promise<unknown>;
}

export interface DatabasesOptions {
  readonly root: string;
  readonly superuserUrl: string;
  readonly secrets: Secrets;
  readonly loadSeeding: () => Promise<Seeding>;
  /** Replaces data of another scale. Undefined replaces nothing. */
  readonly scale: number | undefined;
  say(name: string, line: string): void;
}

/** Creates missing roles and databases, migrates them, and seeds the empty ones. Only `scale` replaces existing data. */
export async function prepareDatabases(options: DatabasesOptions): Promise<void> {
  const { say, scale } = options;
  let urls = await makeDatabases(options);
  const seeding = await options.loadSeeding();
  const outdated = scale === undefined ? [] : await seeding.findOtherScale(urls, scale);
  if (outdated.length > 0) {
    say("seed", `scale ${scale} replaces the data of ${outdated.join(", ")}`);
    await dropDatabases(options.superuserUrl, outdated);
    urls = await makeDatabases(options);
  }
  await seeding.seedEmpty({ urls, scale, progress: (line) => say("seed", line) });
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

async function dropDatabases(superuserUrl: string, names: readonly ServiceName[]): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    for (const name of names) await client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`);
  } finally {
    await client.end();
  }
}
