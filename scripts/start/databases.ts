import { join } from "node:path";
import { Writable } from "node:stream";
import { ensureDatabase } from "@tributary/kit/local-postgres/local-postgres";
import { readAppliedMigrations } from "@tributary/kit/postgres/applied-migrations";
import { withClient } from "@tributary/kit/postgres/client";
import { createLog } from "@tributary/kit/process/log";
import pg from "pg";
import type * as seeding from "../seed/seed.ts";
import { externalOf, type ServiceName, serviceNames } from "./parts.ts";
import type { Secrets } from "./secrets.ts";
import { CommandError } from "../command-line.ts";

type DatabaseUrls = Readonly<Partial<Record<ServiceName, string>>>;

/** They ignore services without seed data. */
export type Seeding = Pick<typeof seeding, "findSeedMismatches" | "findScale" | "seedEmpty">;

export interface DatabasesOptions {
  readonly root: string;
  readonly superuserUrl: string;
  readonly secrets: Secrets;
  readonly loadSeeding: () => Promise<Seeding>;
  readonly scale: number | undefined;
  /** Services whose databases are created again. */
  readonly fresh: readonly ServiceName[];
  readonly services: readonly ServiceName[];
  print(name: string, line: string): void;
}

/** Without `scale`, empty databases get that of an already seeded one, so that references of one service point to rows of another. */
export async function prepareDatabases(options: DatabasesOptions): Promise<void> {
  const { print, scale, fresh } = options;
  await dropDatabases(options.superuserUrl, fresh);
  const urls = await ensureDatabases(options);
  const seeding = await options.loadSeeding();
  if (scale !== undefined) await replaceOtherScale(seeding, urls, scale, options);
  const chosenScale = scale ?? (await findSeededScale(seeding, options.superuserUrl));
  await seeding.seedEmpty({ urls, scale: chosenScale, progress: (line) => print("seed", line) });
}

/** Also of a service that does not run. */
async function findSeededScale(seeding: Seeding, superuserUrl: string): Promise<number | undefined> {
  const databaseNames = await withClient(superuserUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>("select datname as name from pg_database");
    return new Set(rows.map(({ name }) => name));
  });
  const services = serviceNames.filter((name) => databaseNames.has(name));
  const urls = services.map((name) => [name, new URL(`/${name}`, superuserUrl).href] as const);
  return seeding.findScale(Object.fromEntries(urls));
}

async function replaceOtherScale(
  seeding: Seeding,
  urls: DatabaseUrls,
  scale: number,
  options: DatabasesOptions,
): Promise<void> {
  const { outdated, unmarked } = await seeding.findSeedMismatches(urls, scale);
  for (const name of unmarked)
    options.print("seed", `${name} has rows that are not seed data and keeps them; --fresh deletes all data`);
  if (outdated.length === 0) return;
  options.print("seed", `scale ${scale} replaces the seeded databases ${outdated.join(", ")}`);
  await dropDatabases(options.superuserUrl, outdated);
  await ensureDatabases(options); // The URLs remain the same: name and password have not changed.
}

/** In this process, because a process for each service would make a first start one second slower. @throws CommandError with the reason. */
export async function migrateService(
  name: ServiceName,
  databaseUrl: string,
  { root, print }: Pick<DatabasesOptions, "root" | "print">,
): Promise<void> {
  const directory = join(root, "services", name, "migrations");
  try {
    let state = await readAppliedMigrations(databaseUrl, directory);
    if (state.pending.length > 0) {
      const { migrate } = await import("@tributary/kit/postgres/migrate");
      const destination = createLineStream((line) => print(name, line));
      await migrate({ databaseUrl, directory, log: createLog({ name, level: "info", destination }) });
      state = await readAppliedMigrations(databaseUrl, directory);
    }
    for (const file of state.edited)
      print(
        name,
        `services/${name}/migrations/${file} was edited after it was applied: the database does not have the edit. ` +
          `Create it again: npm start -- --fresh ${name}`,
      );
  } catch (cause) {
    throw new CommandError(`The migrations of ${name} failed: ${String(cause)}`, { cause });
  }
}

/** Writes each line as one chunk. */
function createLineStream(print: (line: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      print(chunk.toString().trimEnd());
      done();
    },
  });
}

async function ensureDatabases(options: DatabasesOptions): Promise<DatabaseUrls> {
  const entries = await Promise.all(
    options.services.map(async (name) => {
      const password = options.secrets.databasePasswords[name] ?? "";
      const url = await ensureDatabase(options.superuserUrl, { name, role: name, password });
      // An external service migrates its database itself.
      if (externalOf(name) === undefined) await migrateService(name, url, options);
      return [name, url] as const;
    }),
  );
  return Object.fromEntries(entries);
}

async function dropDatabases(superuserUrl: string, names: readonly string[]): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    for (const name of names) await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
  });
}
