// What `migrate.ts` has applied, read without the migration tool, which `npm start` loads only when it has work.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import pg from "pg";

export interface AppliedMigrations {
  /** Files that are not applied yet. */
  readonly pending: readonly string[];
  /** Files that were edited after they were applied: the database has the earlier version. */
  readonly edited: readonly string[];
}

/** The table of the migration tool, which ignores the column that this file adds. */
const table = "pgmigrations";

/** Records the hash of each applied file that has none yet, so call it after each migration. */
export async function readAppliedMigrations(databaseUrl: string, directory: string): Promise<AppliedMigrations> {
  const files = readdirSync(directory).filter((file) => !file.startsWith("."));
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => {}); // A lost connection fails the query.
  await client.connect();
  try {
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
  } finally {
    await client.end();
  }
}

async function readHashes(client: pg.Client): Promise<{ readonly name: string; readonly hash: string | null }[]> {
  await client.query(`alter table ${table} add column if not exists hash text`);
  return (await client.query(`select name, hash from ${table}`)).rows;
}

function nameOf(file: string): string {
  return file.slice(0, -extname(file).length);
}
