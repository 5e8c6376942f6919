import { readdirSync } from "node:fs";
import { basename, extname } from "node:path";
import { Writable } from "node:stream";
import { createLog } from "@tributary/kit/process/log";
import pg from "pg";

export interface MigrationsOptions {
  readonly name: string;
  readonly databaseUrl: string;
  /** The folder with the service's numbered SQL files. */
  readonly folder: string;
  /** Receives the log lines of applied migrations. */
  print(line: string): void;
}

/**
 * Applies pending migrations with the kit's tool, as the service's `migrate` command does, but in this process: a process
 * for each service would add a second to a first start.
 */
export async function applyMigrations({ name, databaseUrl, folder, print }: MigrationsOptions): Promise<void> {
  if (!(await hasPending(databaseUrl, folder))) return;
  const { migrate } = await import("@tributary/kit/postgres/migrate");
  const log = createLog({ name, level: "info", destination: createLineStream(print) });
  await migrate({ databaseUrl, directory: folder, log });
}

// One query, so that a start without pending migrations does not load the migration tool.
async function hasPending(databaseUrl: string, folder: string): Promise<boolean> {
  const applied = await readApplied(databaseUrl);
  return readdirSync(folder)
    .filter((file) => !file.startsWith("."))
    .some((file) => !applied.has(basename(file, extname(file)))); // node-pg-migrate's name of the migration
}

async function readApplied(databaseUrl: string): Promise<ReadonlySet<string>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    const { rows: tables } = await client.query("select where to_regclass('pgmigrations') is not null");
    if (tables.length === 0) return new Set();
    const { rows } = await client.query<{ name: string }>("select name from pgmigrations");
    return new Set(rows.map((row) => row.name));
  } finally {
    await client.end();
  }
}

function createLineStream(print: (line: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      print(chunk.toString().trimEnd());
      done();
    },
  });
}
