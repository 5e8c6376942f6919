// What `migrate.ts` has applied, read without the migration tool, which `npm start` loads only when it has work.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { DatabaseState } from "../process/process-status.ts";
import { withClient } from "./client.ts";
import type { Queryable } from "./postgres.ts";

export interface AppliedMigrations {
  /** Files that are not applied yet. */
  readonly pending: readonly string[];
  /** Files that were edited after they were applied: the database has the earlier version. */
  readonly edited: readonly string[];
}

/** The table of the migration tool, which ignores the column that this file adds. */
const table = "pgmigrations";

/** Then the state of a process is reported without its migrations: the pool may be exhausted. */
const stateTimeoutMs = 1_000;

/** By one statement of the pool. */
export async function readMigrationState(database: Queryable, directory: string): Promise<DatabaseState["migrations"]> {
  const files = readdirSync(directory).filter((file) => !file.startsWith("."));
  const reading = database.rows<{ readonly name: string }>("applied_migrations", `select name from ${table}`);
  const rows = await Promise.race([reading.catch(() => undefined), sleep(stateTimeoutMs, undefined)]);
  const names = rows && new Set(rows.map(({ name }) => name));
  return names && { applied: names.size, pending: files.filter((file) => !names.has(nameOf(file))) };
}

/** Records the hash of each applied file that has none yet, so call it after each migration. */
export async function readAppliedMigrations(databaseUrl: string, directory: string): Promise<AppliedMigrations> {
  const files = readdirSync(directory).filter((file) => !file.startsWith("."));
  return withClient(databaseUrl, async (client) => {
    const { rows: tables } = await client.query("select where to_regclass($1) is not null", [table]);
    if (tables.length === 0) return { pending: files, edited: [] };
    const hashes = new Map((await readHashes(client)).map(({ name, hash }) => [name, hash]));
    const pending = files.filter((file) => !hashes.has(nameOf(file)));
    const edited: string[] = [];
    for (const file of files.filter((name) => !pending.includes(name))) {
      const hash = createHash("sha256")
        .update(readFileSync(join(directory, file)))
        .digest("hex");
      const recorded = hashes.get(nameOf(file));
      if (!recorded) await client.query(`update ${table} set hash = $2 where name = $1`, [nameOf(file), hash]);
      else if (recorded !== hash) edited.push(file);
    }
    return { pending, edited };
  });
}

async function readHashes(client: pg.Client): Promise<{ readonly name: string; readonly hash: string | null }[]> {
  await client.query(`alter table ${table} add column if not exists hash text`);
  return (await client.query(`select name, hash from ${table}`)).rows;
}

function nameOf(file: string): string {
  return file.slice(0, -extname(file).length);
}
