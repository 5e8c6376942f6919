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
export type SeededService = PopulatedService | (string & {});

/** Services without a URL are not seeded. */
type DatabaseUrls = Readonly<Partial<Record<SeededService, string>>>;

export interface SeedOptions {
  /** Of migrated databases, each with a role that owns the tables. */
  readonly urls: DatabaseUrls;
  /** 1 to 100. */
  readonly scale: number;
  progress(line: string): void;
}

interface DatabaseContents {
  readonly service: SeededService;
  readonly scale: number | undefined;
  /** Always false for a seeded database: its tables are not read, because a migration may have renamed or dropped them. */
  readonly hasUnmarkedRows: boolean;
}

type Prepare = (client: pg.Client, tables: readonly string[]) => Promise<unknown>;

/** The mark of a seeded database is the comment on its schema `public`, so that it needs no table. */
const markPrefix = "seeded at scale ";

const populations: Readonly<Record<PopulatedService, (counts: RowCounts) => readonly Table[]>> = {
  users: (counts) => [usersTable(counts)],
  posts: (counts) => [postsTable(counts)],
  comments: (counts) => [commentsTable(counts)],
  orders: (counts) => [productsTable(counts), ordersTable(counts), orderLinesTable(counts)],
};

export const populatedServices = Object.keys(populations) as readonly PopulatedService[];
export const seededServices: readonly SeededService[] = [...populatedServices, ...serviceSeeds.keys()];

function isPopulated(service: SeededService): service is PopulatedService {
  return Object.hasOwn(populations, service);
}

function tablesOf(service: SeededService): readonly string[] {
  if (!isPopulated(service)) return serviceSeeds.get(service)?.tables ?? [];
  return populations[service](countsAt(1)).map(({ name }) => name);
}

/** Each database is replaced in one transaction. */
export async function truncateAndSeed(options: SeedOptions): Promise<void> {
  await seedAll(servicesIn(options.urls), options, truncate);
}

/** Seeds the databases that were never seeded and are empty: a table that a developer emptied remains so. @returns the seeded services. */
export async function seedEmpty(
  options: Omit<SeedOptions, "scale"> & { readonly scale?: number | undefined },
): Promise<readonly SeededService[]> {
  const contents = await readAllContents(options.urls);
  const presentScale = contents.find((database) => database.scale !== undefined)?.scale;
  const scale = options.scale ?? presentScale ?? 1;
  const emptyDatabases = contents.filter((database) => database.scale === undefined && !database.hasUnmarkedRows);
  const services = emptyDatabases.map(({ service }) => service);
  await seedAll(services, { ...options, scale });
  return services;
}

/** Of the first database that is seeded; undefined if none is. */
export async function findScale(urls: DatabaseUrls): Promise<number | undefined> {
  const scales = await Promise.all(servicesIn(urls).map((service) => withClient(urls, service, readMark)));
  return scales.find((scale) => scale !== undefined);
}

/** `outdated`: seeded at another scale. `unmarked`: with rows but without a seed mark. */
export async function findSeedMismatches(
  urls: DatabaseUrls,
  scale: number,
): Promise<{ readonly outdated: readonly SeededService[]; readonly unmarked: readonly SeededService[] }> {
  const contents = await readAllContents(urls);
  const outdated = contents.filter((database) => database.scale !== undefined && database.scale !== scale);
  const unmarked = contents.filter((database) => database.hasUnmarkedRows);
  return { outdated: outdated.map(({ service }) => service), unmarked: unmarked.map(({ service }) => service) };
}

function servicesIn(urls: DatabaseUrls): readonly SeededService[] {
  return seededServices.filter((service) => urls[service] !== undefined);
}

function readAllContents(urls: DatabaseUrls): Promise<readonly DatabaseContents[]> {
  const readings = servicesIn(urls).map((service) =>
    withClient(urls, service, (client) => readContents(client, service)),
  );
  return Promise.all(readings);
}

async function readContents(client: pg.Client, service: SeededService): Promise<DatabaseContents> {
  const scale = await readMark(client);
  const hasUnmarkedRows = scale === undefined && (await hasRows(client, service));
  return { service, scale, hasUnmarkedRows };
}

async function hasRows(client: pg.Client, service: SeededService): Promise<boolean> {
  const conditions = tablesOf(service).map((table) => `exists (select from ${table})`);
  const { rows } = await client.query<{ has_rows: boolean }>(`select ${conditions.join(" or ")} as has_rows`);
  return rows[0]?.has_rows === true;
}

async function seedAll(
  services: readonly SeededService[],
  { urls, scale, progress }: SeedOptions,
  prepare: Prepare = async () => {},
): Promise<void> {
  await Promise.all(
    services.map(async (service) => {
      const startMs = performance.now();
      const description = await withClient(urls, service, (client) => seedOne(client, service, scale, prepare));
      progress(`${service}: ${description} in ${formatSeconds(performance.now() - startMs)}`);
    }),
  );
}

function truncate(client: pg.Client, tables: readonly string[]): Promise<unknown> {
  return client.query(`truncate ${tables.join(", ")} cascade`);
}

/** @returns a description of the rows. */
async function seedOne(client: pg.Client, service: SeededService, scale: number, prepare: Prepare): Promise<string> {
  const tables = tablesOf(service);
  // There is no rollback statement: `withConnection` closes the connection after an error, which rolls back.
  await client.query("begin");
  await prepare(client, tables);
  const description = isPopulated(service)
    ? await populate(client, service, scale)
    : await insertSeedFile(client, service, scale);
  await client.query(`comment on schema public is '${markPrefix}${scale}'`);
  await client.query("commit");
  await client.query(`analyze ${tables.join(", ")}`);
  return description;
}

/** Loads the rows of population.ts. @returns their description. */
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

/** Runs the statements of the service's seed.sql. @returns a description of the rows. */
async function insertSeedFile(client: pg.Client, service: SeededService, scale: number): Promise<string> {
  const seed = serviceSeeds.get(service);
  if (seed === undefined) throw new Error(`services/${service}/seed.sql is missing`);
  await insertServiceSeed(client, seed, scale);
  return "the rows of its seed.sql";
}

/** The scale in the mark; undefined if the database was never seeded. */
async function readMark(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ mark: string | null }>(
    "select obj_description('public'::regnamespace, 'pg_namespace') as mark",
  );
  const mark = rows[0]?.mark ?? "";
  return mark.startsWith(markPrefix) ? Number(mark.slice(markPrefix.length)) : undefined;
}

async function withClient<T>(
  urls: DatabaseUrls,
  service: SeededService,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  try {
    return await withConnection(urls[service], work);
  } catch (cause) {
    const file = isPopulated(service) ? "scripts/seed/population.ts" : `services/${service}/seed.sql`;
    const hint = `If its tables have changed, change ${file} to match its migrations.`;
    throw new Error(`Seeding ${service} failed: ${String(cause)}\n${hint}`, { cause });
  }
}

// Without a URL, pg would connect to PGHOST or localhost:5432, an unrelated database.
async function withConnection<T>(url: string | undefined, work: (client: pg.Client) => Promise<T>): Promise<T> {
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
  const countedTables = tables.filter(({ name }) => name in counts);
  const texts = countedTables.map(({ name }) => `${counts[name as keyof RowCounts].toLocaleString("en")} ${name}`);
  return texts.join(", ");
}

function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
