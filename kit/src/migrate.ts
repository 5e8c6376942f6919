import { runner } from "node-pg-migrate";
import type { Log } from "./log.ts";

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** The folder with the numbered SQL files. */
  readonly directory: string;
  readonly log: Log;
}

/**
 * Applies what has not been applied yet, forward only, under an advisory lock: any number of processes may call it at once.
 * @returns the names of the migrations that were applied now.
 */
export async function migrate({ databaseUrl, directory, log }: MigrateOptions): Promise<readonly string[]> {
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
      info: () => {},
      warn: (text: string) => log.warn(text),
      error: (text: string) => log.error(text),
    },
  });
  const names = applied.map((migration) => migration.name);
  log.info({ applied: names }, names.length === 0 ? "the database is up to date" : "migrations applied");
  return names;
}
