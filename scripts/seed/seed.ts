// Seeds the services' databases, for `npm start`, the seed job and verifications: population.ts generates the rows and copy.ts loads them, or
// a service's own seed.sql inserts them (service-seeds.ts).
import pg from "pg";
import { copyRows } from "./copy.ts";
import {
  type RowCounts,
  commentsTable,
  countsAt,
  orderLinesTable,
  ordersTable,
  postsTable,
  productsTable,
  type Table,
  usersTable,
} from "./population.ts";
import { insertServiceSeed, serviceSeeds } from "./service-seeds.ts";

type PopulatedService = "users" | "posts" | "comments" | "orders";
/** A service of population.ts, or one with a seed.sql. */
export type SeededService = PopulatedService | (string & {});

/** Services without a URL are not seeded. */
type DatabaseUrls = Readonly<Partial<Record<SeededService, string>>>;

export interface SeedOptions {
  /** The URLs of migrated databases, each with a role that owns the tables. */
  readonly urls: DatabaseUrls;
  /** 1 to 100. */
  readonly scale: number;
  progress(line: string): void;
}

const populations: Readonly<Record<PopulatedService, (counts: RowCounts) => readonly Table[]>> = {
  users: (counts) => [usersTable(counts)],
  posts: (counts) => [postsTable(counts)],
  comments: (counts) => [commentsTable(counts)],
  orders: (counts) => [productsTable(counts), ordersTable(counts), orderLinesTable(counts)],
};

/** The services of population.ts. */
export const populatedServices = Object.keys(populations) as readonly PopulatedService[];
/** The services with seed data. */
export const seededServices: readonly SeededService[] = [...populatedServices, ...serviceSeeds.keys()];

function isPopulated(service: SeededService): service is PopulatedService {
  return Object.hasOwn(populations, service);
}

/** The names of the seeded tables. */
function tablesOf(service: SeededService): readonly string[] {
  if (!isPopulated(service)) return serviceSeeds.get(service)?.tables ?? [];
  return populations[service](countsAt(1)).map(({ name }) => name);
}

/** Replaces every row of the services' tables by the demo users and their data. Each database is replaced in one transaction. */
export async function truncateAndSeed(o: SeedOptions): Promise<void> {
  await fillAll(servicesIn(o.urls), o, truncate);
}

/**
 * Seeds the databases that were never seeded and whose tables are empty: a table that a developer emptied after seeding remains empty. The
 * default scale is that of the first database that is seeded already, or 1. Resolves to the services that were seeded.
 */
export async function seedEmpty(
  o: Omit<SeedOptions, "scale"> & { readonly scale?: number | undefined },
): Promise<readonly SeededService[]> {
  const contents = await readAllContents(o.urls);
  const presentScale = contents.find(({ scale }) => scale !== undefined)?.scale;
  const empty = contents
    .filter((database) => database.scale === undefined && !database.hasUnmarkedRows)
    .map(({ service }) => service);
  await fillAll(empty, { ...o, scale: o.scale ?? presentScale ?? 1 });
  return empty;
}

/** For `npm start`: the scale of the first database that is seeded; undefined if none is. */
export async function findScale(urls: DatabaseUrls): Promise<number | undefined> {
  const scales = await Promise.all(servicesIn(urls).map((service) => withClient(urls, service, readMark)));
  return scales.find((scale) => scale !== undefined);
}

/**
 * Finds the services that were seeded at another scale (`outdated`), which `npm start` seeds
 * again, and those with rows but without a seed mark (`unmarked`), which it keeps.
 */
export async function findSeedMismatches(
  urls: DatabaseUrls,
  scale: number,
): Promise<{ readonly outdated: readonly SeededService[]; readonly unmarked: readonly SeededService[] }> {
  const contents = await readAllContents(urls);
  const outdated = contents.filter((database) => database.scale !== undefined && database.scale !== scale);
  const unmarked = contents.filter((database) => database.hasUnmarkedRows);
  return { outdated: outdated.map(({ service }) => service), unmarked: unmarked.map(({ service }) => service) };
}

interface Contents {
  readonly service: SeededService;
  /** Undefined if the database was never seeded. */
  readonly scale: number | undefined;
  /** Always false for a seeded database: its tables are not read, because a migration may have renamed or dropped them. */
  readonly hasUnmarkedRows: boolean;
}

function servicesIn(urls: DatabaseUrls): readonly SeededService[] {
  return seededServices.filter((service) => urls[service] !== undefined);
}

function readAllContents(urls: DatabaseUrls): Promise<readonly Contents[]> {
  return Promise.all(
    servicesIn(urls).map((service) =>
      withClient(urls, service, async (client) => {
        const scale = await readMark(client);
        return { service, scale, hasUnmarkedRows: scale === undefined && (await hasRows(client, service)) };
      }),
    ),
  );
}

async function hasRows(client: pg.Client, service: SeededService): Promise<boolean> {
  const tables = tablesOf(service).map((name) => `exists (select from ${name})`);
  const { rows } = await client.query<{ has_rows: boolean }>(`select ${tables.join(" or ")} as has_rows`);
  return rows[0]?.has_rows === true;
}

type Prepare = (client: pg.Client, tables: readonly string[]) => Promise<unknown>;

async function fillAll(
  services: readonly SeededService[],
  { urls, scale, progress }: SeedOptions,
  prepare: Prepare = async () => {},
): Promise<void> {
  await Promise.all(
    services.map(async (service) => {
      const startMs = performance.now();
      const rows = await withClient(urls, service, (client) => fill(client, service, scale, prepare));
      progress(`${service}: ${rows} in ${seconds(performance.now() - startMs)}`);
    }),
  );
}

function truncate(client: pg.Client, tables: readonly string[]): Promise<unknown> {
  return client.query(`truncate ${tables.join(", ")} cascade`);
}

/** @returns a description of the rows. */
async function fill(client: pg.Client, service: SeededService, scale: number, prepare: Prepare): Promise<string> {
  const tables = tablesOf(service);
  // There is no rollback statement: `connected` closes the connection after an error, which rolls back.
  await client.query("begin");
  await prepare(client, tables);
  const rows = isPopulated(service) ? await populate(client, service, scale) : await insert(client, service, scale);
  await client.query(`comment on schema public is '${markPrefix}${scale}'`);
  await client.query("commit");
  await client.query(`analyze ${tables.join(", ")}`);
  return rows;
}

async function populate(client: pg.Client, service: PopulatedService, scale: number): Promise<string> {
  const counts = countsAt(scale);
  const tables = populations[service](counts);
  for (const { name, columns, rows } of tables) {
    await copyRows(client, name, columns, rows());
    // The next inserted row gets the id after the last seeded one; the ids of orders are UUIDs.
    if (columns.includes("id") && name !== "orders") {
      await client.query(`select setval(pg_get_serial_sequence('${name}', 'id'), (select max(id) from ${name}))`);
    }
  }
  return describe(tables, counts);
}

async function insert(client: pg.Client, service: SeededService, scale: number): Promise<string> {
  const own = serviceSeeds.get(service);
  if (own === undefined) throw new Error(`services/${service}/seed.sql is missing`);
  await insertServiceSeed(client, own, scale);
  return "the rows of its seed.sql";
}

// The mark of a seeded database is the comment on its schema `public`, so that it needs no table.
const markPrefix = "seeded at scale ";

async function readMark(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ mark: string | null }>(
    "select obj_description('public'::regnamespace, 'pg_namespace') as mark",
  );
  const mark = rows[0]?.mark ?? "";
  return mark.startsWith(markPrefix) ? Number(mark.slice(markPrefix.length)) : undefined;
}

/** @throws Error that names the service and what to do. */
async function withClient<T>(
  urls: DatabaseUrls,
  service: SeededService,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  try {
    return await connected(urls[service], work);
  } catch (cause) {
    const file = isPopulated(service) ? "scripts/seed/population.ts" : `services/${service}/seed.sql`;
    const hint = `If its tables have changed, change ${file} to match its migrations.`;
    throw new Error(`Seeding ${service} failed: ${String(cause)}\n${hint}`, { cause });
  }
}

// Without a URL, pg would connect to PGHOST or localhost:5432, an unrelated database.
async function connected<T>(url: string | undefined, work: (client: pg.Client) => Promise<T>): Promise<T> {
  if (!url) throw new Error("its database has no URL");
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // A lost connection fails the query.
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Such as "200 products, 5,000 orders". A table that RowCounts does not have (order_lines) is left out. */
function describe(tables: readonly Table[], counts: RowCounts): string {
  return tables
    .filter(({ name }) => name in counts)
    .map(({ name }) => `${counts[name as keyof RowCounts].toLocaleString("en")} ${name}`)
    .join(", ");
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
