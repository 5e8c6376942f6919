import { InputError } from "@tributary/kit/errors/input-error";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../kit/src/testing/database.ts";
import { findSeedMismatches, truncateAndSeed, seededServices as services, seedEmpty } from "../scripts/seed/seed.ts";
import { services as allServices } from "./services.ts";

type SeededService = "users" | "posts" | "comments" | "orders";
let databases: Record<SeededService, TestDatabase>;
let urls: Record<SeededService, string>;
const lines: string[] = [];

beforeAll(async () => {
  const entries = await Promise.all(
    services.map(async (service) => {
      const migrations = new URL(`../services/${service}/migrations`, import.meta.url).pathname;
      return [service, await createTestDatabase(inject("postgresUrl"), migrations)] as const;
    }),
  );
  databases = Object.fromEntries(entries) as typeof databases;
  urls = Object.fromEntries(entries.map(([service, { url }]) => [service, url])) as typeof urls;
  await seedEmpty({ urls, progress: (line) => lines.push(line) });
});
afterAll(() => Promise.all(Object.values(databases).map((database) => database.close())));

test("the services with seed data are those whose descriptors say so", () => {
  const described = allServices.filter((service) => service.seed).map(({ name }) => name);
  expect(services.toSorted()).toEqual(described.toSorted());
});

test("the number of rows depends on the scale", async () => {
  expect(await findSeedMismatches(urls, 1)).toEqual({ outdated: [], unmarked: [] });
  expect(await findSeedMismatches(urls, 2)).toEqual({ outdated: services, unmarked: [] });
  expect(lines.sort()[0]).toMatch(/^comments: 50,000 comments in \d+\.\d s$/);
  expect(lines.sort()[1]).toMatch(/^orders: 200 products, 5,000 orders, \d+,\d{3} order_lines in /);
  for (const [table, count] of [
    ["users", 1_000],
    ["posts", 10_000],
    ["comments", 50_000],
  ] as const)
    expect([table, await number(table, `select count(*)::int as n from ${table}`)]).toEqual([table, count]);
});

test("the demo users have fixed ids, posts and orders", async () => {
  const names = await databases.users.database.rows<{ name: string }>(
    "demo-users",
    "select name from users where id <= 3 order by id",
  );
  expect(names.map(({ name }) => name)).toEqual(["Ada Lovelace", "Grace Hopper", "Linus Torvalds"]);
  for (const id of [1, 2, 3]) {
    expect(
      await number("posts", `select count(*)::int as n from posts where author_id = ${id} and status = 'PUBLISHED'`),
    ).toBeGreaterThan(5);
    expect(await number("orders", `select count(*)::int as n from orders where customer_id = ${id}`)).toBeGreaterThan(
      2,
    );
  }
});

test("an order's total is the sum of its lines, and its id contains the time of the order", async () => {
  const wrong = `select count(*)::int as n from orders o where total_minor <>
    (select sum(quantity * unit_price_minor) from order_lines l where l.order_id = o.id)
    or uuid_extract_timestamp(id) <> placed_at`;
  expect(await number("orders", wrong)).toBe(0);
  const mixed = `select count(*)::int as n from orders o join order_lines l on l.order_id = o.id join products p using (sku) where p.currency <> o.currency`;
  expect(await number("orders", mixed)).toBe(0);
});

test("the distribution is skewed: a few users write most posts, and a few posts have most comments", async () => {
  const share = async (service: SeededService, table: string, column: string, of: number) => {
    const top = `select sum(n)::int as n from (select count(*) as n from ${table} group by ${column} order by 1 desc limit ${of}) as top`;
    return (await number(service, top)) / (await number(service, `select count(*)::int as n from ${table}`));
  };
  expect(await share("posts", "posts", "author_id", 100)).toBeGreaterThan(0.4);
  expect(await share("comments", "comments", "post_id", 500)).toBeGreaterThan(0.25);
});

test("new rows get ids after the seeded ones", async () => {
  expect(await number("posts", "insert into posts (author_id, title) values (1, 'next') returning id::int as n")).toBe(
    10_001,
  );
  await execute("posts", "delete from posts where id > 10000");
});

test("seeding again gives the same rows with new versions, so no old ETag matches", async () => {
  const digest = () =>
    Promise.all(
      Object.entries({ users: "users", posts: "posts", comments: "comments", order_lines: "orders" } as const).map(
        ([table, service]) =>
          databases[service].database.rows(
            `digest-${table}`,
            `select md5(string_agg((to_jsonb(t) - 'row_version')::text, '' order by (to_jsonb(t) - 'row_version')::text)) as all from ${table} t`,
          ),
      ),
    );
  const versions = () =>
    Promise.all(
      ["users", "posts", "comments", "products", "orders"].map(async (table) => {
        const service = table === "products" ? "orders" : (table as SeededService);
        const text = `select min(row_version)::float8 as least, max(row_version)::float8 as most from ${table}`;
        const [row] = await databases[service].database.rows<{ least: number; most: number }>(
          `versions-${table}`,
          text,
        );
        return row ?? { least: Number.NaN, most: Number.NaN };
      }),
    );
  const [rowsBefore, versionsBefore] = [await digest(), await versions()];
  await truncateAndSeed({ urls, scale: 1, progress: () => {} });
  expect(await digest()).toEqual(rowsBefore);
  for (const [index, { least }] of (await versions()).entries()) {
    expect(least).toBeGreaterThan(versionsBefore[index]?.most ?? Number.NaN);
  }
});

test("existing rows remain, seeded or not, and an emptied table remains empty", async () => {
  await execute("users", "insert into users (name, email) values ('Developer', 'developer@example.com')");
  await execute("comments", "truncate comments cascade");
  await execute("posts", "comment on schema public is null");
  const seeded: string[] = [];
  await seedEmpty({ urls, progress: (line) => seeded.push(line) });
  expect(seeded).toEqual([]);
  expect(await number("users", "select count(*)::int as n from users where name = 'Developer'")).toBe(1);
  expect(await number("comments", "select count(*)::int as n from (select from comments) as remaining")).toBe(0);
  expect(await findSeedMismatches(urls, 2)).toEqual({
    outdated: Object.keys(databases)
      .filter((name) => name !== "posts")
      .toSorted(),
    unmarked: ["posts"],
  });
});

test("a new service is seeded at the scale of the others, which do not change", async () => {
  const migrations = new URL("../services/users/migrations", import.meta.url).pathname;
  const users = await createTestDatabase(inject("postgresUrl"), migrations);
  onTestFinished(() => users.close());
  for (const service of Object.keys(databases) as SeededService[])
    await execute(service, "comment on schema public is 'seeded at scale 2'");
  const seeded: string[] = [];
  await seedEmpty({ urls: { ...urls, users: users.url }, progress: (line) => seeded.push(line) });
  expect(seeded).toEqual([expect.stringMatching(/^users: 2,000 users in /)]);
});

test("a service without a URL is skipped, and an empty URL is an error", async () => {
  const { orders: _, ...others } = urls;
  expect(await seedEmpty({ urls: others, progress: () => {} })).toEqual([]);
  expect(await findSeedMismatches(others, 2)).toEqual({ outdated: [], unmarked: [] });
  const seeding = seedEmpty({ urls: { ...urls, orders: "" }, progress: () => {} });
  await expect(seeding).rejects.toThrow("Seeding orders failed: Error: The database has no URL");
  await expect(seeding).rejects.toBeInstanceOf(InputError);
});

test("a renamed table is an error only in a database without a seed mark", async () => {
  await execute("comments", "alter table comments rename to remarks");
  expect(await seedEmpty({ urls, progress: () => {} })).toEqual([]);
  await execute("comments", "comment on schema public is null");
  const seeding = seedEmpty({ urls, progress: () => {} });
  await expect(seeding).rejects.toThrow(
    /^Seeding comments failed: .*"comments" does not exist.*services\/comments\/seed.sql/s,
  );
});

async function execute(service: SeededService, text: string): Promise<void> {
  await databases[service].database.rows(text.slice(0, 60), text);
}

async function number(service: SeededService, text: string): Promise<number> {
  const [row] = await databases[service].database.rows<{ n: number }>(text.slice(0, 60), text);
  return row?.n ?? Number.NaN;
}
