import { runner } from "node-pg-migrate";
import type { Log } from "../process/log.ts";

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** The folder with the numbered SQL files. */
  readonly directory: string;
  readonly log: Log;
}

/**
 * Applies pending migrations, forward only, under an advisory lock, so that processes may call it concurrently.
 * @returns the names of the migrations that were applied now.
 * @throws Error that names the migration that failed; the driver's error if there is no connection.
 */
export async function migrate({ databaseUrl, directory, log }: MigrateOptions): Promise<readonly string[]> {
  let current: string | undefined;
  let hasFailed = false;
  const applied = await runner({
    databaseUrl,
    dir: directory,
    direction: "up",
    migrationsTable: "pgmigrations",
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
  const names = applied.map((migration) => migration.name);
  log.info({ applied: names }, names.length === 0 ? "the database is up to date" : "migrations applied");
  return names;
}
