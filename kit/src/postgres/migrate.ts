import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import type { Log } from "../process/log.ts";
import { withClient } from "./client.ts";

export interface MigrateOptions {
  readonly databaseUrl: string;
  readonly directory: string;
  readonly log: Log;
}

interface MigrationSet {
  readonly directory: string;
  readonly table: string;
}

const feedMigrations: MigrationSet = {
  directory: fileURLToPath(new URL("../feed/migrations", import.meta.url)),
  table: "feed_migrations",
};

const migrationHeading = /^### MIGRATION (.+) \(UP\) ###$/;

/** Forward only, under an advisory lock: processes may call it concurrently. @throws Error that names the migration that failed. */
export async function migrate({ databaseUrl, directory, log }: MigrateOptions): Promise<readonly string[]> {
  await applyMigrations(databaseUrl, feedMigrations, log);
  const names = await applyMigrations(databaseUrl, { directory, table: "pgmigrations" }, log).catch(async (error) => {
    // Those before the failed one have been committed.
    await publishEverything(databaseUrl).catch(() => {});
    throw error;
  });
  // A migration may have changed rows in ways that no trigger records.
  if (names.length > 0) await publishEverything(databaseUrl);
  log.info({ applied: names }, names.length === 0 ? "the database is up to date" : "migrations applied");
  return names;
}

export async function publishEverything(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) => client.query("select publish_everything()"));
}

async function applyMigrations(
  databaseUrl: string,
  { directory, table }: MigrationSet,
  log: Log,
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
        const name = migrationHeading.exec(text)?.[1];
        if (name !== undefined) current = name;
      },
      // Later errors and warnings only follow from the first: the transaction is aborted.
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
