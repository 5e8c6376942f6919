import pg from "pg";
import { copyRows } from "./copy.ts";
import {
  type Counts,
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

export interface SeedOptions {
  /** The databases, migrated, each under a role that owns its tables. */
  readonly urls: Readonly<Record<SeededService, string>>;
  /** 1 to 100. */
  readonly scale: number;
  progress(line: string): void;
}

const tablesOf: Readonly<Record<SeededService, (counts: Counts) => readonly Table[]>> = {
  users: (counts) => [usersTable(counts)],
  posts: (counts) => [postsTable(counts)],
  comments: (counts) => [commentsTable(counts)],
  orders: (counts) => [productsTable(counts), ordersTable(counts), orderLinesTable(counts)],
};

/** Empties the services' tables and fills them with the named cast and the population around it; a database is all or nothing. */
export async function seed({ urls, scale, progress }: SeedOptions): Promise<void> {
  const counts = countsAt(scale);
  const services = Object.keys(tablesOf) as SeededService[];
  await Promise.all(
    services.map(async (service) => {
      const startMs = performance.now();
      await withClient(urls[service], (client) => load(client, tablesOf[service](counts), scale));
      progress(`${service}: ${describe(tablesOf[service](counts), counts)} in ${seconds(performance.now() - startMs)}`);
    }),
  );
}

/** The scale that all four databases were filled at; undefined when one was not, or they differ. */
export async function seededScale(urls: Readonly<Record<SeededService, string>>): Promise<number | undefined> {
  const marks = await Promise.all(Object.values(urls).map((url) => withClient(url, readMark)));
  const [first] = marks;
  return marks.every((mark) => mark === first) ? first : undefined;
}

async function load(client: pg.Client, tables: readonly Table[], scale: number): Promise<void> {
  await client.query("begin");
  await client.query(`truncate ${tables.map(({ name }) => name).join(", ")} cascade`);
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

const markPrefix = "seeded at scale ";

async function readMark(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ mark: string | null }>(
    "select obj_description('public'::regnamespace, 'pg_namespace') as mark",
  );
  const mark = rows[0]?.mark ?? "";
  return mark.startsWith(markPrefix) ? Number(mark.slice(markPrefix.length)) : undefined;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function describe(tables: readonly Table[], counts: Counts): string {
  return tables
    .filter(({ name }) => name in counts)
    .map(({ name }) => `${counts[name as keyof Counts].toLocaleString("en")} ${name}`)
    .join(", ");
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
