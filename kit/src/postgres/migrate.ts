import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import pg from "pg";
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

/**
 * While a migration waits for a lock on a table, all statements of the service that need the table wait behind it. So it waits shortly and is
 * repeated, since a transaction that holds the lock, such as that of pg_dump, can last for hours.
 */
const lockTimeoutMs = 1_000;
const repeatAfterMs = 2_000;

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

/** Those before a failed one are committed, so a repetition begins with it. */
async function applyMigrations(databaseUrl: string, set: MigrationSet, log: Log): Promise<readonly string[]> {
  const applied: string[] = [];
  for (let hasWaited = false; ; hasWaited = true) {
    try {
      await applyPending(databaseUrl, set, log, applied);
      return applied;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (!hasWaited)
        log.warn({ err: error }, "waiting for the end of another transaction, such as a backup or a migration");
      await sleep(repeatAfterMs);
    }
  }
}

/** `lock_not_available`. */
function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === "55P03";
}

async function applyPending(
  databaseUrl: string,
  { directory, table }: MigrationSet,
  log: Log,
  applied: string[],
): Promise<void> {
  let current: string | undefined;
  let hasFailed = false;
  await runner({
    databaseUrl: { connectionString: databaseUrl, lock_timeout: lockTimeoutMs },
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
        if (name === undefined) return;
        if (current !== undefined) applied.push(current);
        current = name;
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
  if (current !== undefined) applied.push(current);
}
