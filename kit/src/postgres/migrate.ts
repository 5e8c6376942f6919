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

/** The tables of the feed, which the service's migrations refer to. */
const feedMigrations = {
  directory: fileURLToPath(new URL("../feed/migrations", import.meta.url)),
  table: "feed_migrations",
};

/**
 * Applies the pending migrations of the feed and of the service, forward only, under an advisory lock, so that processes may call it concurrently.
 * If it applied a migration of the service, it also publishes `everything` in the feed: caches invalidate all responses of the service.
 * @returns the names of the service's migrations that were applied now.
 * @throws Error that names the migration that failed; the driver's error if there is no connection.
 */
export async function migrate(o: MigrateOptions): Promise<readonly string[]> {
  await applyMigrations(o, feedMigrations);
  const names = await applyMigrations(o, { directory: o.directory, table: "pgmigrations" });
  // A migration may have changed rows in ways that no trigger records.
  if (names.length > 0) await publishEverything(o.databaseUrl);
  o.log.info({ applied: names }, names.length === 0 ? "the database is up to date" : "migrations applied");
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
  { databaseUrl, log }: MigrateOptions,
  { directory, table }: { readonly directory: string; readonly table: string },
): Promise<readonly string[]> {
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
        current = /^### MIGRATION (.+) \(UP\) ###$/.exec(text)?.[1] ?? current;
      },
      // The first error is thrown. Later ones and warnings only follow from it: the transaction is aborted.
      warn: (text: string) => hasFailed || log.warn(text),
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
