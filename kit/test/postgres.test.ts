import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { readAppliedMigrations } from "../src/postgres/applied-migrations.ts";
import { migrate } from "../src/postgres/migrate.ts";
import { createDatabase, type Database, requireDurability, violates } from "../src/postgres/postgres.ts";
import { isRowId, onlyRowIds } from "../src/postgres/row-id.ts";
import { toWordPrefixQuery } from "../src/postgres/word-search.ts";
import { createLog, silentLog } from "../src/process/log.ts";
import { openTestOutbox } from "../src/testing/feed.ts";
import { createTestDatabase, type TestDatabase } from "../src/testing/database.ts";

const busy = {
  code: "SERVICE_UNAVAILABLE",
  message: "The database is busy at the moment. Try again shortly.",
  retryAfterSeconds: 1,
};
const migrations = fileURLToPath(new URL("migrations", import.meta.url));
let test_: TestDatabase;
let database: Database;
beforeAll(async () => {
  test_ = await createTestDatabase(inject("postgresUrl"), migrations);
  database = test_.database;
  await database.rows("fill", "insert into things values (1, 10, 'one'), (2, 10, 'two')");
});
afterAll(() => test_.close());

test("migrations are applied once, however many processes start at once", async () => {
  const run = () => migrate({ databaseUrl: test_.url, directory: migrations, log: silentLog });
  expect(await Promise.all([run(), run(), run()])).toEqual([[], [], []]);
});

test("a migration that fails is named with the first error, and the errors that follow from it are not logged", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tributary-migrations-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  cpSync(migrations, directory, { recursive: true });
  writeFileSync(join(directory, "0002-broken.sql"), "creat table others (id int);\n");
  const outbox = await openTestOutbox(test_.url);
  onTestFinished(() => outbox.close());
  const { position } = await outbox.read(undefined);
  const lines: string[] = [];
  const log = createLog({ name: "test", level: "info", destination: toLines(lines) });
  await expect(migrate({ databaseUrl: test_.url, directory, log })).rejects.toThrow(
    '0002-broken.sql: syntax error at or near "creat"',
  );
  expect(lines).toEqual([]);
  expect((await outbox.read(position)).changes).toEqual([expect.objectContaining({ kind: "everything" })]);
});

test("while a migration waits for a long transaction, such as a backup, statements of the service do not wait behind it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tributary-migrations-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const own = await createTestDatabase(inject("postgresUrl"), migrations);
  onTestFinished(() => own.close());
  cpSync(migrations, directory, { recursive: true });
  writeFileSync(join(directory, "0002-first.sql"), "create table others (id int);\n");
  writeFileSync(join(directory, "0003-blocked.sql"), "alter table things add column extra int;\n");
  const ended = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const backup = own.database.transaction(async (transaction) => {
    await transaction.rows("dump", "select from things");
    holding.resolve();
    await ended.promise;
  });
  await holding.promise;
  const lines: string[] = [];
  const log = createLog({ name: "test", level: "info", destination: toLines(lines) });
  const migrated = migrate({ databaseUrl: own.url, directory, log });
  onTestFinished(async () => {
    ended.resolve();
    await Promise.allSettled([backup, migrated]);
  });
  const isWaiting = () => lines.some((line) => line.includes("0003-blocked.sql"));
  for (let reads = 0; reads < 60 && !isWaiting(); reads++) {
    await own.database.rows("read", "select id from things limit 1");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(isWaiting()).toBe(true);
  ended.resolve();
  expect(await migrated).toEqual(["0002-first", "0003-blocked"]);
});

test("a migration that is edited after it was applied is found, also in a database that had no hashes", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tributary-migrations-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  cpSync(migrations, directory, { recursive: true });
  const read = () => readAppliedMigrations(test_.url, directory);
  expect(await read()).toEqual({ pending: [], edited: [] });
  writeFileSync(join(directory, "0002-more.sql"), "select 1;\n");
  expect(await read()).toEqual({ pending: ["0002-more.sql"], edited: [] });
  appendFileSync(join(directory, "0001-things.sql"), "-- an edit\n");
  expect(await read()).toEqual({ pending: ["0002-more.sql"], edited: ["0001-things.sql"] });
  await migrate({ databaseUrl: test_.url, directory: migrations, log: silentLog });
  cpSync(migrations, directory, { recursive: true });
  expect(await read()).toEqual({ pending: ["0002-more.sql"], edited: [] });
});

test("rows have typed values, and ids are strings", async () => {
  expect(await database.rows("read-one", "select id, amount from things where id = $1", ["1"])).toEqual([
    { id: "1", amount: 10 },
  ]);
});

test("statements whose long names begin alike are prepared one by one, on one connection", async () => {
  const long = "update-row-title-description-category-publishedOn-language-pageCount";
  const names = [`${long}-edition`, `${long}-publisher`, long, long.slice(0, 63)];
  const found = await database.transaction(async ({ rows }) => {
    const read = [];
    for (const [index, name] of [...names.entries(), ...names.entries()])
      read.push(...(await rows<{ n: number }>(name, `select ${index} as n`)));
    return read.map(({ n }) => n);
  });
  expect(found).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
});

test("a failed transaction is rolled back, and its connection is reused", async () => {
  const failing = database.transaction(async (transaction) => {
    await transaction.rows("take", "update things set amount = amount - 5 where id = 1");
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await amounts()).toEqual([10, 10]);
});

test("the violation of a constraint is recognized by the constraint's name", async () => {
  const rejection = await database
    .rows("double", "insert into things values (3, 1, 'one')")
    .catch((error: unknown) => error);
  expect([
    violates(rejection, "things_name_key"),
    violates(rejection, "things_pkey"),
    violates(new Error("x"), "things_name_key"),
  ]).toEqual([true, false, false]);
});

test("two transactions that deadlock both succeed", async () => {
  const locked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let attempts = 0;
  const swap = (mine: number, other: number) =>
    database.transaction(async (transaction) => {
      attempts++;
      await transaction.rows("lock", "update things set amount = amount + 1 where id = $1", [mine]);
      locked[mine - 1]?.resolve();
      await locked[other - 1]?.promise;
      await transaction.rows("cross", "update things set amount = amount - 1 where id = $1", [other]);
    });
  await Promise.all([swap(1, 2), swap(2, 1)]);
  // PostgreSQL may end either of them, now and then both.
  expect(attempts).toBeGreaterThan(2);
  expect(await amounts()).toEqual([10, 10]);
});

test("a statement that takes too long is cancelled with SERVICE_UNAVAILABLE", async () => {
  const hasty = createDatabase({ ...limits(test_.url), statementTimeoutMs: 50 });
  await expect(hasty.rows("sleep", "select pg_sleep(5)")).rejects.toMatchObject(busy);
  await hasty.close();
});

test("a lock timeout and an exhausted pool are SERVICE_UNAVAILABLE", async () => {
  const small = createDatabase({ ...limits(test_.url), connectionsMax: 1, lockTimeoutMs: 50, acquireTimeoutMs: 50 });
  await expect.poll(() => small.isReachable()).toBe(true);
  await database.transaction(async (transaction) => {
    await transaction.rows("hold", "select from things where id = 1 for update");
    const blocked = small.rows("take", "update things set amount = 0 where id = 1");
    await expect(blocked).rejects.toMatchObject(busy);
  });
  await small.transaction(async () => {
    await expect(small.rows("read", "select 1")).rejects.toMatchObject(busy);
  });
  await small.close();
});

test("a database whose connections are all in use is reachable as soon as one of them responds", async () => {
  const small = createDatabase({ ...limits(test_.url), connectionsMax: 1, acquireTimeoutMs: 60_000 });
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [first, second] = gates.map(({ promise }) => small.transaction(() => promise));
  // Waits for its turn after both.
  const check = small.isReachable();
  gates[0]?.resolve();
  await first;
  expect(await check).toBe(true);
  gates[1]?.resolve();
  await second;
  await small.close();
});

test("a connection that the server ends, idle or in use, does not end the process", async () => {
  const messages: string[] = [];
  const other = createDatabase({ ...limits(test_.url), onError: (error) => messages.push(error.message) });
  const busy = other.transaction(async (transaction) => {
    const [self] = await transaction.rows<{ pid: number }>("pid", "select pg_backend_pid() as pid");
    await database.rows("kill", "select pg_terminate_backend($1)", [self?.pid]);
    await transaction.rows("sleep", "select pg_sleep(2)");
  });
  await expect(busy).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  expect(messages.length).toBeGreaterThan(0);
  expect(await other.isReachable()).toBe(true);
  await other.close();
});

test.each(["40001", "40P01", "53300"])("the code %s is SERVICE_UNAVAILABLE, and the database busy", async (code) => {
  const raise = `do $$ begin raise exception 'a secret' using errcode = '${code}'; end $$`;
  await expect(database.rows(`raise-${code}`, raise)).rejects.toMatchObject(busy);
});

test("a server that is down or does not respond is SERVICE_UNAVAILABLE", async () => {
  const silent = createServer((socket: Socket) => void socket.unref()).listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  const urls = ["postgres://a:b@127.0.0.1:1/c", `postgres://a:b@127.0.0.1:${(silent.address() as AddressInfo).port}/c`];
  for (const url of urls) {
    const unreachable = createDatabase({ ...limits(url), acquireTimeoutMs: 100 });
    await expect(unreachable.rows("read", "select 1")).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: "The database is not reachable at the moment. Try again shortly.",
    });
    expect(await unreachable.isReachable()).toBe(false);
    await unreachable.close();
  }
  silent.close();
});

test("a transaction whose server stops responding ends with the statement that waited", async () => {
  const hasty = createDatabase({ ...limits(test_.url), statementTimeoutMs: 50 });
  const ended: string[] = [];
  let other: Promise<unknown> = Promise.resolve();
  const silent = hasty.transaction(async (transaction) => {
    const [self] = await transaction.rows<{ pid: number }>("pid", "select pg_backend_pid() as pid");
    const pid = self?.pid ?? 0;
    process.kill(pid, "SIGSTOP");
    onTestFinished(() => void process.kill(pid, "SIGCONT"));
    try {
      await transaction.rows("unheard", "select 1");
    } finally {
      // Takes 50 ms; a rollback without a response would take a second more.
      other = hasty.rows("sleep", "select pg_sleep(5)").catch(() => ended.push("other"));
    }
  });
  await expect(silent).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  ended.push("transaction");
  await other;
  expect(ended).toEqual(["transaction", "other"]);
  await hasty.close();
});

test("a read-only database, such as a former primary, is SERVICE_UNAVAILABLE", async () => {
  const writing = database.transaction(async (transaction) => {
    await transaction.rows("read-only", "set transaction read only");
    await transaction.rows("empty", "update things set amount = 0");
  });
  await expect(writing).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
});

test("a failed login and a missing database are SERVICE_UNAVAILABLE", async () => {
  const wrongs = ["postgres://unknown:x@host/postgres", test_.url.replace(":test@", ":wrong@"), `${test_.url}_gone`];
  const { host } = new URL(test_.url);
  for (const url of wrongs.map((wrong) => wrong.replace("@host", `@${host}`))) {
    const rejected = createDatabase(limits(url));
    await expect(rejected.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await rejected.close();
  }
});

test("a database that can lose acknowledged writes is rejected", async () => {
  await requireDurability(database);
  for (const name of ["fsync", "synchronous_commit"]) {
    const forgetful = { rows: async () => [{ fsync: "on", synchronous_commit: "on", [name]: "off" }] as never };
    await expect(requireDurability(forgetful)).rejects.toThrow(`${name} = off`);
  }
});

test("a row id is a positive bigint in canonical decimal form", () => {
  expect(
    onlyRowIds(["1", "9223372036854775807", "0", "01", "-1", "1.0", "9223372036854775808", " 1", "", "１"]),
  ).toEqual(["1", "9223372036854775807"]);
  expect(isRowId("99999999999999999999")).toBe(false);
});

test("a search consists of its first eight words, each quoted", () => {
  expect(toWordPrefixQuery(" Ada  LOVE ")).toBe("'Ada':* & 'LOVE':*");
  expect(toWordPrefixQuery(String.raw`';drop \':*`)).toBe(String.raw`''';drop':* & '\\'':*':*`);
  expect(toWordPrefixQuery("a b c d e f g h i j").split("&")).toHaveLength(8);
});

async function amounts(): Promise<readonly number[]> {
  const rows = await database.rows<{ amount: number }>("amounts", "select amount from things order by id");
  return rows.map(({ amount }) => amount);
}

const limits = (url: string) => ({
  url,
  applicationName: "test",
  connectionsMax: 2,
  statementTimeoutMs: 5_000,
  lockTimeoutMs: 5_000,
  acquireTimeoutMs: 5_000,
});

function toLines(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
}

test("a statement with a column or table that no migration has created fails with its name and what to do", async () => {
  const created = await createTestDatabase(inject("postgresUrl"), migrations);
  onTestFinished(() => created.close());
  expect(() => created.requireSchema()).not.toThrow();
  const message =
    'column "colour" does not exist, in the statement find-colours. To fix: add a migration, or correct the name';
  await expect(created.database.rows("find-colours", "select colour from things")).rejects.toThrow(message);
  expect(() => created.requireSchema()).toThrow(message);
  await expect(created.database.transaction((one) => one.rows("find-parts", "select * from parts"))).rejects.toThrow(
    'relation "parts" does not exist, in the statement find-parts. To fix',
  );
});
