import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import pg from "pg";
import type { Log } from "../process/log.ts";

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** The folder with the numbered SQL files. */
  readonly directory: string;
  readonly log: Log;
}

interface MigrationSet {
  /** The folder with the numbered SQL files. */
  readonly directory: string;
  /** The table that records which of them are applied. */
  readonly table: string;
}

/** The tables of the feed, which the service's migrations refer to. */
const feedMigrations: MigrationSet = {
  directory: fileURLToPath(new URL("../feed/migrations", import.meta.url)),
  table: "feed_migrations",
};

/** The line that the runner logs before it applies a migration. */
const migrationHeading = /^### MIGRATION (.+) \(UP\) ###$/;

/**
 * Applies the pending migrations of the feed and of the service, forward only, under an advisory lock, so that processes may call it concurrently.
 * If it applied a migration of the service, it also publishes `everything` in the feed: caches invalidate all responses of the service.
 * @returns the names of the service's migrations that were applied now.
 * @throws Error that names the migration that failed; the driver's error if there is no connection.
 */
export async function migrate({ databaseUrl, directory, log }: MigrateOptions): Promise<readonly string[]> {
  await applyMigrations(databaseUrl, feedMigrations, log);
  const names = await applyMigrations(databaseUrl, { directory, table: "pgmigrations" }, log);
  // A migration may have changed rows in ways that no trigger records.
  if (names.length > 0) await publishEverything(databaseUrl);
  log.info({ applied: names }, names.length === 0 ? "the database is up to date" : "migrations applied");
  return names;
}

/** Makes all readers of the change feed invalidate everything that they have cached of this service. */
export async function publishEverything(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("select publish_everything()");
  } finally {
    await client.end();
  }
}

async function applyMigrations(
  databaseUrl: string,
  { directory, table }: MigrationSet,
  log: Log,
): Promise<readonly string[]> {
  /** The name of the migration that runs. */
  let current: string | undefined;
  let hasFailed = false;
  const applied = await runner({
    databaseUrl,
    dir: directory,
    direction: "up",
    migrationsTable: table,
    checkOrder: true,
    advisoryLockMode: "wait",
    log: () => {},
    logger: {
      debug: () => {},
      info: (text: string) => {
        const name = migrationHeading.exec(text)?.[1];
        if (name !== undefined) current = name;
      },
      // The first error is thrown. Later errors and warnings only follow from it: the transaction is aborted.
      warn: (text: string) => {
        if (!hasFailed) log.warn(text);
      },
      error: () => {
        hasFailed = true;
      },
    },
  }).catch((cause: unknown) => {
    if (current === undefined) throw cause;
    throw new Error(`${current}.sql: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  return applied.map((migration) => migration.name);
}
