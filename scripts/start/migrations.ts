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
  /** Gets what was applied, as a line of log. */
  say(line: string): void;
}

/**
 * Applies the migrations that the database has not seen, as the service's own `migrate` does: by the kit's tool, but
 * without a process for each service, which would cost a second of every first start.
 */
export async function applyMigrations({ name, databaseUrl, folder, say }: MigrationsOptions): Promise<void> {
  if (!(await hasPending(databaseUrl, folder))) return;
  const { migrate } = await import("@tributary/kit/postgres/migrate");
  const log = createLog({ name, level: "info", destination: toLines(say) });
  await migrate({ databaseUrl, directory: folder, log });
}

// One light query, so that the usual start need not load what migrates.
async function hasPending(databaseUrl: string, folder: string): Promise<boolean> {
  const applied = await readApplied(databaseUrl);
  return readdirSync(folder)
    .filter((file) => !file.startsWith("."))
    .some((file) => !applied.has(basename(file, extname(file)))); // node-pg-migrate's name for it
}

async function readApplied(databaseUrl: string): Promise<ReadonlySet<string>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    const { rows: found } = await client.query("select where to_regclass('pgmigrations') is not null");
    if (found.length === 0) return new Set();
    const { rows } = await client.query<{ name: string }>("select name from pgmigrations");
    return new Set(rows.map((row) => row.name));
  } finally {
    await client.end();
  }
}

function toLines(say: (line: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      say(chunk.toString().trimEnd());
      done();
    },
  });
}
