import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { createLog, silentLog } from "../src/process/log.ts";
import { migrate } from "../src/postgres/migrate.ts";
import { createDatabase, type Database, requireDurability, violates } from "../src/postgres/postgres.ts";
import { createTestDatabase, type TestDatabase } from "../src/testing/database.ts";

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
  const lines: string[] = [];
  const log = createLog({ name: "test", level: "info", destination: toLines(lines) });
  await expect(migrate({ databaseUrl: test_.url, directory, log })).rejects.toThrow(
    '0002-broken.sql: syntax error at or near "creat"',
  );
  expect(lines).toEqual([]);
});

test("rows have typed values, and ids are strings", async () => {
  expect(await database.rows("read-one", "select id, amount from things where id = $1", ["1"])).toEqual([
    { id: "1", amount: 10 },
  ]);
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
  const refusal = await database
    .rows("double", "insert into things values (3, 1, 'one')")
    .catch((error: unknown) => error);
  expect([
    violates(refusal, "things_name_key"),
    violates(refusal, "things_pkey"),
    violates(new Error("x"), "things_name_key"),
  ]).toEqual([true, false, false]);
});

test("two transactions that deadlock both succeed", async () => {
  const met = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let attempts = 0;
  const swap = (mine: number, other: number) =>
    database.transaction(async (transaction) => {
      attempts++;
      await transaction.rows("lock", "update things set amount = amount + 1 where id = $1", [mine]);
      met[mine - 1]?.resolve();
      await met[other - 1]?.promise;
      await transaction.rows("cross", "update things set amount = amount - 1 where id = $1", [other]);
    });
  await Promise.all([swap(1, 2), swap(2, 1)]);
  // PostgreSQL may end either of them, now and then both.
  expect(attempts).toBeGreaterThan(2);
  expect(await amounts()).toEqual([10, 10]);
});

test("a statement that takes too long is cancelled with SERVICE_UNAVAILABLE", async () => {
  const hasty = createDatabase({ ...limits(test_.url), statementTimeoutMs: 50 });
  await expect(hasty.rows("sleep", "select pg_sleep(5)")).rejects.toMatchObject({
    code: "SERVICE_UNAVAILABLE",
    retryAfterSeconds: 1,
  });
  await hasty.close();
});

test("a lock timeout and an exhausted pool are SERVICE_UNAVAILABLE", async () => {
  const small = createDatabase({ ...limits(test_.url), connectionsMax: 1, lockTimeoutMs: 50, acquireTimeoutMs: 50 });
  await expect.poll(() => small.isReachable()).toBe(true);
  await database.transaction(async (transaction) => {
    await transaction.rows("hold", "select from things where id = 1 for update");
    const blocked = small.rows("take", "update things set amount = 0 where id = 1");
    await expect(blocked).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });
  await small.transaction(async () => {
    await expect(small.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });
  await small.close();
});

test("a connection that the server ends, idle or in use, does not end the process", async () => {
  const messages: string[] = [];
  const other = createDatabase({ ...limits(test_.url), onError: (error) => messages.push(error.message) });
  const atWork = other.transaction(async (transaction) => {
    const [self] = await transaction.rows<{ pid: number }>("pid", "select pg_backend_pid() as pid");
    await database.rows("kill", "select pg_terminate_backend($1)", [self?.pid]);
    await transaction.rows("sleep", "select pg_sleep(2)");
  });
  await expect(atWork).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  expect(messages.length).toBeGreaterThan(0);
  expect(await other.isReachable()).toBe(true);
  await other.close();
});

test("a server that is down or does not respond is SERVICE_UNAVAILABLE", async () => {
  const silent = createServer((socket: Socket) => void socket.unref()).listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  const urls = ["postgres://a:b@127.0.0.1:1/c", `postgres://a:b@127.0.0.1:${(silent.address() as AddressInfo).port}/c`];
  for (const url of urls) {
    const gone = createDatabase({ ...limits(url), acquireTimeoutMs: 100 });
    await expect(gone.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(await gone.isReachable()).toBe(false);
    await gone.close();
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
    const shut = createDatabase(limits(url));
    await expect(shut.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await shut.close();
  }
});

test("an invalid statement is a bug, not SERVICE_UNAVAILABLE", async () => {
  await expect(database.rows("wrong", "select nothing from nowhere")).rejects.toMatchObject({ code: "42P01" });
});

test("a database that can lose acknowledged writes is rejected", async () => {
  await requireDurability(database);
  for (const name of ["fsync", "synchronous_commit"]) {
    const forgetful = { rows: async () => [{ fsync: "on", synchronous_commit: "on", [name]: "off" }] as never };
    await expect(requireDurability(forgetful)).rejects.toThrow(`${name} = off`);
  }
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
