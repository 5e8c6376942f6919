// Runs services/<name>/seed.sql, which inserts the rows of a new database. It reads the scale from the PostgreSQL setting seed.scale.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withClient } from "@tributary/kit/postgres/client";
import pg from "pg";
import { CommandError } from "../command-line.ts";

/** Services without a URL are not seeded. */
type DatabaseUrls = Readonly<Record<string, string | undefined>>;

export interface SeedOptions {
  /** Of migrated databases, each with a role that owns the tables. */
  readonly urls: DatabaseUrls;
  /** 1 to 100. */
  readonly scale: number;
  progress(line: string): void;
}

interface SeedAllOptions extends SeedOptions {
  readonly truncates: boolean;
}

interface DatabaseContents {
  readonly service: string;
  readonly scale: number | undefined;
  /** Always false for a seeded database: its tables are not read, because a migration may have renamed or dropped them. */
  readonly hasUnmarkedRows: boolean;
}

interface ServiceSeed {
  readonly sql: string;
  /** In the order of the statements that insert into them. */
  readonly tables: readonly string[];
}

/** The mark of a seeded database is the comment on its schema `public`, so that it needs no table. */
const markPrefix = "seeded at scale ";
const servicesFolder = fileURLToPath(new URL("../../services/", import.meta.url));
/** A statement begins a line, in lower case. */
const insertedTablePattern = /^insert into (\w+)/gm;

const seeds: ReadonlyMap<string, ServiceSeed> = new Map(
  globSync("*/seed.sql", { cwd: servicesFolder })
    .toSorted()
    .map((path) => [dirname(path), readSeed(join(servicesFolder, path))]),
);
export const seededServices: readonly string[] = [...seeds.keys()];

function readSeed(file: string): ServiceSeed {
  const sql = readFileSync(file, "utf8");
  return { sql, tables: [...sql.matchAll(insertedTablePattern)].map(([, table = ""]) => table) };
}

function seedOf(service: string): ServiceSeed {
  const seed = seeds.get(service);
  if (seed === undefined) throw new Error(`services/${service}/seed.sql is missing`);
  return seed;
}

/** Each database is replaced in one transaction. */
export async function truncateAndSeed(options: SeedOptions): Promise<void> {
  await seedAll(servicesIn(options.urls), { ...options, truncates: true });
}

/** Seeds the databases that were never seeded and are empty: a table that a developer emptied remains so. @returns the seeded services. */
export async function seedEmpty(
  options: Omit<SeedOptions, "scale"> & { readonly scale?: number | undefined },
): Promise<readonly string[]> {
  const contents = await readAllContents(options.urls);
  const presentScale = contents.find((database) => database.scale !== undefined)?.scale;
  const scale = options.scale ?? presentScale ?? 1;
  const emptyDatabases = contents.filter((database) => database.scale === undefined && !database.hasUnmarkedRows);
  const services = emptyDatabases.map(({ service }) => service);
  await seedAll(services, { ...options, scale, truncates: false });
  return services;
}

/** Of the first database that is seeded; undefined if none is. */
export async function findScale(urls: DatabaseUrls): Promise<number | undefined> {
  const scales = await Promise.all(servicesIn(urls).map((service) => connectTo(urls, service, readMark)));
  return scales.find((scale) => scale !== undefined);
}

/** `outdated`: seeded at another scale. `unmarked`: with rows but without a seed mark. */
export async function findSeedMismatches(
  urls: DatabaseUrls,
  scale: number,
): Promise<{ readonly outdated: readonly string[]; readonly unmarked: readonly string[] }> {
  const contents = await readAllContents(urls);
  const namesOf = (databases: readonly DatabaseContents[]) => databases.map(({ service }) => service);
  const outdated = contents.filter((database) => database.scale !== undefined && database.scale !== scale);
  return { outdated: namesOf(outdated), unmarked: namesOf(contents.filter((database) => database.hasUnmarkedRows)) };
}

function servicesIn(urls: DatabaseUrls): readonly string[] {
  return seededServices.filter((service) => urls[service] !== undefined);
}

function readAllContents(urls: DatabaseUrls): Promise<readonly DatabaseContents[]> {
  return Promise.all(
    servicesIn(urls).map((service) => connectTo(urls, service, (client) => readContents(client, service))),
  );
}

async function readContents(client: pg.Client, service: string): Promise<DatabaseContents> {
  const scale = await readMark(client);
  const hasUnmarkedRows = scale === undefined && (await hasRows(client, service));
  return { service, scale, hasUnmarkedRows };
}

async function hasRows(client: pg.Client, service: string): Promise<boolean> {
  const conditions = seedOf(service).tables.map((table) => `exists (select from ${table})`);
  const { rows } = await client.query<{ has_rows: boolean }>(`select ${conditions.join(" or ")} as has_rows`);
  return rows[0]?.has_rows === true;
}

async function seedAll(services: readonly string[], options: SeedAllOptions): Promise<void> {
  await Promise.all(
    services.map(async (service) => {
      const startMs = performance.now();
      const description = await connectTo(options.urls, service, (client) => seedOne(client, service, options));
      const tookSeconds = (performance.now() - startMs) / 1_000;
      options.progress(`${service}: ${description} in ${tookSeconds.toFixed(1)} s`);
    }),
  );
}

/** @returns a description of the rows, such as "200 products, 5,000 orders". */
async function seedOne(client: pg.Client, service: string, o: SeedAllOptions): Promise<string> {
  const { sql, tables } = seedOf(service);
  // There is no rollback statement: `withClient` closes the connection after an error, which rolls back.
  await client.query("begin");
  if (o.truncates) await client.query(`truncate ${tables.join(", ")} cascade`);
  await client.query("select set_config('seed.scale', $1, true)", [String(o.scale)]);
  const results = [await client.query(sql)].flat(); // An array for several statements.
  await client.query(`comment on schema public is '${markPrefix}${o.scale}'`);
  await client.query("commit");
  await client.query(`analyze ${tables.join(", ")}`);
  const counts = results.filter(({ command }) => command === "INSERT").map(({ rowCount }) => rowCount ?? 0);
  return tables.map((table, index) => `${counts[index]?.toLocaleString("en")} ${table}`).join(", ");
}

/** The scale in the mark; undefined if the database was never seeded. */
async function readMark(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ mark: string | null }>(
    "select obj_description('public'::regnamespace, 'pg_namespace') as mark",
  );
  const mark = rows[0]?.mark ?? "";
  return mark.startsWith(markPrefix) ? Number(mark.slice(markPrefix.length)) : undefined;
}

async function connectTo<T>(urls: DatabaseUrls, service: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  try {
    return await withClient(urls[service] ?? "", work);
  } catch (cause) {
    const hint = `\nIf its tables have changed, change services/${service}/seed.sql to match its migrations.`;
    const isOfStatement = cause instanceof pg.DatabaseError;
    throw new CommandError(`Seeding ${service} failed: ${String(cause)}${isOfStatement ? hint : ""}`, { cause });
  }
}
