// Step of a start, while gateway, REST proxy and issuer load: creates, migrates and seeds the databases. The dev loop calls only
// `migrateService`.
import { join } from "node:path";
import { ensureDatabase } from "@tributary/kit/local-postgres/local-postgres";
import pg from "pg";
import { applyMigrations } from "./migrations.ts";
import { type ServiceName, serviceNames } from "./parts.ts";
import type { Secrets } from "./secrets.ts";
import { StartError } from "./start-error.ts";

type DatabaseUrls = Readonly<Record<ServiceName, string>>;

/** The functions of scripts/seed/seed.ts that a start uses. They ignore services without seed data. */
export interface Seeding {
  /** `outdated`: services seeded at another scale. `unmarked`: services whose rows are not seed data. */
  findOtherScale(
    urls: Partial<DatabaseUrls>,
    scale: number,
  ): Promise<{ readonly outdated: readonly string[]; readonly unmarked: readonly string[] }>;
  /** Seeds databases that are empty and were never seeded, each in one transaction. */
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
  /** Seeded databases of another scale are replaced. Undefined replaces none. */
  readonly scale: number | undefined;
  /** The services whose databases `scale` may replace. */
  readonly replaceable: readonly ServiceName[];
  print(name: string, line: string): void;
}

/** Creates missing roles and databases, migrates all databases, and seeds the empty ones. Only `scale` replaces existing data. */
export async function prepareDatabases(options: DatabasesOptions): Promise<void> {
  const { print, scale } = options;
  const urls = await ensureDatabases(options);
  const seeding = await options.loadSeeding();
  if (scale !== undefined) await replaceOtherScale(seeding, urls, scale, options);
  await asStartError(seeding.seedEmpty({ urls, scale, progress: (line) => print("seed", line) }));
}

async function replaceOtherScale(
  seeding: Seeding,
  urls: DatabaseUrls,
  scale: number,
  options: DatabasesOptions,
): Promise<void> {
  const replaceable = Object.fromEntries(options.replaceable.map((name) => [name, urls[name]]));
  const { outdated, unmarked } = await asStartError(seeding.findOtherScale(replaceable, scale));
  for (const name of unmarked)
    options.print("seed", `${name} has rows that are not seed data and keeps them; --fresh deletes all data`);
  if (outdated.length === 0) return;
  options.print("seed", `scale ${scale} replaces the seeded databases ${outdated.join(", ")}`);
  await dropDatabases(options.superuserUrl, outdated);
  await ensureDatabases(options); // The URLs remain the same: name and password have not changed.
}

/** Seeding errors already name the service and the remedy, so they are printed without a stack. */
async function asStartError<T>(seeding: Promise<T>): Promise<T> {
  try {
    return await seeding;
  } catch (cause) {
    throw new StartError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * Applies one service's new migrations.
 * @throws StartError with the reason.
 */
export async function migrateService(
  name: ServiceName,
  databaseUrl: string,
  { root, print }: Pick<DatabasesOptions, "root" | "print">,
): Promise<void> {
  const folder = join(root, "services", name, "migrations");
  try {
    await applyMigrations({ name, databaseUrl, folder, print: (line) => print(name, line) });
  } catch (cause) {
    throw new StartError(`The migrations of ${name} failed: ${String(cause)}`, { cause });
  }
}

async function ensureDatabases(options: DatabasesOptions): Promise<DatabaseUrls> {
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

async function dropDatabases(superuserUrl: string, names: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  client.on("error", () => {}); // A lost connection fails the query.
  await client.connect();
  try {
    for (const name of names) await client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`);
  } finally {
    await client.end();
  }
}
