import { readdirSync } from "node:fs";
import { basename, extname } from "node:path";
import pg from "pg";

/**
 * Whether a service's migrations folder holds one that its database has not seen. One light query, so that the usual
 * start needs no migrating process; those who apply them are the services themselves.
 */
export async function hasPendingMigrations(databaseUrl: string, folder: string): Promise<boolean> {
  const applied = await readApplied(databaseUrl);
  return readdirSync(folder)
    .filter((file) => !file.startsWith("."))
    .some((file) => !applied.has(basename(file, extname(file))));
}

// node-pg-migrate notes them by the file's name without its extension.
async function readApplied(databaseUrl: string): Promise<ReadonlySet<string>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>("select name from pgmigrations");
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === undefinedTable) return new Set();
    throw error;
  } finally {
    await client.end();
  }
}

const undefinedTable = "42P01";
