// Seeds the services' databases: population.ts generates the rows, copy.ts loads them.
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

export type SeededService = "users" | "posts" | "comments" | "orders";

/** Services without a URL are not seeded. */
type DatabaseUrls = Readonly<Partial<Record<SeededService, string>>>;

export interface SeedOptions {
  /** The URLs of migrated databases, each with a role that owns the tables. */
  readonly urls: DatabaseUrls;
  /** 1 to 100. */
  readonly scale: number;
  progress(line: string): void;
}

const tablesOf: Readonly<Record<SeededService, (counts: RowCounts) => readonly Table[]>> = {
  users: (counts) => [usersTable(counts)],
  posts: (counts) => [postsTable(counts)],
  comments: (counts) => [commentsTable(counts)],
  orders: (counts) => [productsTable(counts), ordersTable(counts), orderLinesTable(counts)],
};

/** The services with seed data. */
export const seededServices = Object.keys(tablesOf) as readonly SeededService[];

/** Replaces every row of the services' tables by the demo users and their data. Each database is replaced in one transaction. */
export async function seed(o: SeedOptions): Promise<void> {
  await fillAll(servicesIn(o.urls), o, truncate);
}

/**
 * Seeds the databases that were never seeded and whose tables are empty; never changes others. A table that a developer
 * emptied after seeding remains empty. Without `scale`, the scale of the first database that is seeded already is used, or 1. Resolves
 * to the services that were seeded.
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

/** The scale of the first database that is seeded; undefined if none is. */
export async function findScale(urls: DatabaseUrls): Promise<number | undefined> {
  const scales = await Promise.all(servicesIn(urls).map((service) => withClient(urls, service, readMark)));
  return scales.find((scale) => scale !== undefined);
}

/** Finds the services that were seeded at another scale (`outdated`), and those with rows but without a seed mark (`unmarked`). */
export async function findOtherScale(
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
  const tables = tablesOf[service](countsAt(1)).map(({ name }) => `exists (select from ${name})`);
  const { rows } = await client.query<{ has_rows: boolean }>(`select ${tables.join(" or ")} as has_rows`);
  return rows[0]?.has_rows === true;
}

type Prepare = (client: pg.Client, tables: readonly Table[]) => Promise<unknown>;

async function fillAll(
  services: readonly SeededService[],
  { urls, scale, progress }: SeedOptions,
  prepare: Prepare = async () => {},
): Promise<void> {
  const counts = countsAt(scale);
  await Promise.all(
    services.map(async (service) => {
      const startMs = performance.now();
      const tables = tablesOf[service](counts);
      await withClient(urls, service, (client) => fill(client, tables, scale, prepare));
      progress(`${service}: ${describe(tables, counts)} in ${seconds(performance.now() - startMs)}`);
    }),
  );
}

function truncate(client: pg.Client, tables: readonly Table[]): Promise<unknown> {
  return client.query(`truncate ${tables.map(({ name }) => name).join(", ")} cascade`);
}

async function fill(client: pg.Client, tables: readonly Table[], scale: number, prepare: Prepare): Promise<void> {
  await client.query("begin");
  await prepare(client, tables);
  for (const { name, columns, rows } of tables) {
    await copyRows(client, name, columns, rows());
    if (columns.includes("id") && name !== "orders") {
      await client.query(`select setval(pg_get_serial_sequence('${name}', 'id'), (select max(id) from ${name}))`);
    }
  }
  await client.query(`comment on schema public is '${markPrefix}${scale}'`);
  await client.query("commit");
  await client.query(`analyze ${tables.map(({ name }) => name).join(", ")}`);
}

// Stored as the comment on the schema, so that it needs no table.
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
    const hint = "If its tables have changed, change scripts/seed/population.ts to match its migrations.";
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

function describe(tables: readonly Table[], counts: RowCounts): string {
  return tables
    .filter(({ name }) => name in counts)
    .map(({ name }) => `${counts[name as keyof RowCounts].toLocaleString("en")} ${name}`)
    .join(", ");
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
