// For services that population.ts does not know, such as new ones: services/<name>/seed.sql inserts the rows of a new database. It reads the
// scale from the PostgreSQL setting seed.scale.
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";

const servicesFolder = fileURLToPath(new URL("../../services/", import.meta.url));
/** A statement begins a line, in lower case. */
const insertedTablePattern = /^insert into (\w+)/gm;

export interface ServiceSeed {
  readonly name: string;
  readonly sql: string;
  /** The tables into which the statements insert. seed.ts truncates, checks and analyzes them. */
  readonly tables: readonly string[];
}

export const serviceSeeds: ReadonlyMap<string, ServiceSeed> = new Map(
  globSync("*/seed.sql", { cwd: servicesFolder })
    .toSorted()
    .map((path) => readServiceSeed(path))
    .map((seed) => [seed.name, seed]),
);

function readServiceSeed(path: string): ServiceSeed {
  const sql = readFileSync(join(servicesFolder, path), "utf8");
  const insertedTables = [...sql.matchAll(insertedTablePattern)].map(([, table = ""]) => table);
  return { name: basename(dirname(path)), sql, tables: [...new Set(insertedTables)] };
}

export async function insertServiceSeed(client: pg.Client, { sql }: ServiceSeed, scale: number): Promise<void> {
  await client.query("select set_config('seed.scale', $1, true)", [String(scale)]);
  await client.query(sql);
}
