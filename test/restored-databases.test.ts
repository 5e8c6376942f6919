// A database is restored to an earlier time, while the databases of the other services, tokens and clients still have the ids of the lost rows.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import pg from "pg";
import { createTestDatabase } from "../kit/src/testing/database.ts";
import { startTestIssuer, type TestIssuer } from "../kit/src/testing/issuer.ts";
import { startTestService, type TestService } from "../kit/src/testing/service.ts";
import { defaultScopes, loadApps, serviceNames } from "./services.ts";

const apps = new Map(await loadApps());
let superuser: pg.Client;
let issuer: TestIssuer;
const services: Record<string, TestService> = {};

beforeAll(async () => {
  superuser = new pg.Client({ connectionString: inject("postgresUrl") });
  await superuser.connect();
  issuer = await startTestIssuer();
  for (const [name, createApp] of apps) {
    services[name] = await startTestService(inject("postgresUrl"), migrationsOf(name), createApp, issuer);
  }
});
afterAll(async () => {
  await Promise.all(Object.values(services).map((service) => service.stop()));
  await issuer.stop();
  await superuser.end();
});

test.each(serviceNames)("a new database of %s gives ids from 1", async (name) => {
  const database = await createTestDatabase(inject("postgresUrl"), migrationsOf(name).pathname);
  onTestFinished(() => database.close());
  const ids = await database.database.rows<NextId>("next", nextIds);
  expect(new Set(ids.map(({ id }) => id))).toEqual(new Set(ids.length > 0 ? ["1"] : []));
});

test.each(serviceNames)("a restored database of %s gives no id again, nor does a promoted standby", async (name) => {
  const service = serviceNamed(name);
  const ids = () => service.database.database.rows<NextId>("next", nextIds);
  const first = await ids();
  const restore = await backUp(service);
  const lost = [...(await ids()), ...(await ids())];
  await restore();
  const restored = [...(await ids()), ...(await ids())];
  await loseWritesByPromotion(service, restored);
  const promoted = [...(await ids()), ...(await ids())];
  const all = [...first, ...lost, ...restored, ...promoted].map(({ sequence, id }) => `${sequence} ${id}`);
  expect(new Set(all).size).toBe(all.length);
  expect(promoted.every(({ id }) => Number.isSafeInteger(Number(id)))).toBe(true);
});

test("a user who registers after the restore sees no order of a lost user, and a new post no comment of a lost post", async () => {
  const users = serviceNamed("users");
  const posts = serviceNamed("posts");
  const comments = serviceNamed("comments");
  const orders = serviceNamed("orders");
  await orders.database.database.rows(
    "product",
    "insert into products (sku, title, price_minor, currency, stock) values ('A', 'A', 100, 'EUR', 9)",
  );
  const restores = await Promise.all([backUp(users), backUp(posts)]);
  const lost = await registerAndPublish();
  await create(orders, "/v2/orders", lost.token, { lines: [{ sku: "A", quantity: 1 }] });
  await create(comments, "/v2/comments", lost.token, { postId: lost.postId, body: "Lost." });
  const listsOf = async ({ token, postId }: typeof lost) => [
    await count(orders, "/v2/orders", token),
    await count(comments, `/v2/comments?postId=${postId}`, token),
  ];
  expect(await listsOf(lost)).toEqual([1, 1]);
  for (const restore of restores) await restore();
  expect(await listsOf(await registerAndPublish())).toEqual([0, 0]);

  async function registerAndPublish() {
    const admin = await issuer.token("4", [...defaultScopes, "users:write:all"]);
    const userId = await create(users, "/v2/users", admin, { name: "Ada" });
    const token = await issuer.token(userId, defaultScopes);
    return { token, postId: await create(posts, "/v2/posts", token, { title: "A post" }) };
  }
});

test("a row that changes after the restore gets no lost version again, so no ETag of lost content matches", async () => {
  const users = serviceNamed("users");
  const admin = await issuer.token("4", [...defaultScopes, "users:write:all"]);
  const id = await create(users, "/v2/users", admin, { name: "Ada" });
  const rename = async (name: string) => {
    await whenReachable(users);
    const response = await users.rest("PATCH", `/v1/users/${id}`, {
      token: admin,
      body: { name },
      headers: { "if-match": "*" },
    });
    expect(response.status, response.text).toBe(200);
    return response.headers.get("etag");
  };
  const restore = await backUp(users);
  const lost = await rename("Lost");
  await restore();
  expect(await rename("Restored")).not.toBe(lost);
});

test("the documented commands that copy rows into a running database do not copy the state of its sequences", () => {
  const page = readFileSync(new URL("../docs/back-up-and-restore.md", import.meta.url), "utf8");
  const commands = page.split("\n").filter((line) => line.includes("pg_dump") && line.includes("--data-only"));
  expect(commands.length).toBe(2);
  for (const command of commands) expect(command).toMatch(/--exclude-table-data ["']\*_seq["']/);
});

/** The next id of each table with generated ids. */
const nextIds = `select sequence, nextval(sequence)::text as id from (
  select pg_get_serial_sequence(attrelid::regclass::text, attname) as sequence from pg_attribute where attidentity <> '') as identities`;

interface NextId {
  readonly sequence: string;
  readonly id: string;
}

function migrationsOf(name: string): URL {
  return new URL(`../services/${name}/migrations`, import.meta.url);
}

function serviceNamed(name: string): TestService {
  const service = services[name];
  if (service === undefined) throw new Error(`There is no service ${name}.`);
  return service;
}

let backupCount = 0;

/** @returns a function that restores the database, beneath the running service. */
async function backUp(service: TestService): Promise<() => Promise<void>> {
  const { pathname, username: role } = new URL(service.database.url);
  const name = pathname.slice(1);
  const backup = `${name}_backup_${++backupCount}`;
  const copy = async (from: string, to: string) => {
    await endSessions(from);
    await superuser.query(`create database ${to} template ${from} owner ${role}`);
  };
  await copy(name, backup);
  return async () => {
    await endSessions(name);
    await superuser.query(`alter database ${name} rename to ${backup}_lost`);
    await copy(backup, name);
    await whenReachable(service);
  };
}

/** A standby that had not received the last ids is promoted: PostgreSQL empties unlogged tables. */
async function loseWritesByPromotion(service: TestService, ids: readonly NextId[]): Promise<void> {
  const { database, url } = service.database;
  for (const { sequence, id } of ids)
    await database.rows(`lose-${sequence}-${id}`, `select setval('${sequence}', ${id} - 1)`);
  await database.rows("promote", "truncate feed_epoch");
  await endSessions(new URL(url).pathname.slice(1));
  await whenReachable(service);
}

async function endSessions(database: string): Promise<void> {
  await superuser.query("select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = $1", [database]);
}

async function whenReachable(service: TestService): Promise<void> {
  await expect.poll(() => service.database.database.isReachable()).toBe(true);
}

/** @returns the id of what was created. */
async function create(service: TestService, path: string, token: string, body: object): Promise<string> {
  await whenReachable(service);
  const response = await service.rest("POST", path, { token, body, headers: { "idempotency-key": randomUUID() } });
  expect(response.status, response.text).toBe(201);
  return response.body.id;
}

async function count(service: TestService, path: string, token: string): Promise<number> {
  const response = await service.rest("GET", path, { token });
  expect(response.status, response.text).toBe(200);
  return (response.body.data ?? response.body.items).length;
}
