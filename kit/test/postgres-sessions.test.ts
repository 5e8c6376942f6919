// Sessions that were opened before a change of the schema, or before a failover: their statements fail until a new session replaces them.
import { beforeEach, expect, inject, onTestFinished, test } from "vitest";
import { createDatabase, type Database, type Writer } from "../src/postgres/postgres.ts";
import type { TestDatabase } from "../src/testing/database.ts";
import { createRecordedDatabase } from "../src/testing/feed.ts";

let owner: TestDatabase;
beforeEach(async () => {
  owner = await createRecordedDatabase(inject("postgresUrl"));
  onTestFinished(() => owner.close());
  await owner.database.rows("record-amount", "select record_changes_of('things', 'thing', 'id', 'amount', 'name')");
  await owner.database.rows("fill", "insert into things values (1, 1, 'one'), (2, 1, 'two'), (3, 1, 'three')");
});

test("the type of a column changes under running statements and transactions, and none of them fails", async () => {
  const database = open(4);
  const load = startLoad(
    () => database.rows("read", "select id, amount from things where id = $1", [1]),
    () => database.write("write", "update things set amount = amount + 1 where id = $1 returning id, amount", [1]),
    // Its statement has no result: the plan in the trigger that records the change is outdated.
    () => database.rows("silent", "update things set amount = amount + 1 where id = $1", [2]),
    () =>
      database.transaction(async (transaction) => {
        await transaction.rows("lock", "select amount from things where id = $1 for update", [3]);
        await transaction.write("take", "update things set amount = amount + 1 where id = $1 returning amount", [3]);
      }),
  );
  await load.succeedMore(100);
  for (const type of ["bigint", "numeric", "integer"]) {
    await owner.database.rows(`to-${type}`, `alter table things alter column amount type ${type}`);
    await load.succeedMore(100);
  }
  expect(await load.stop()).toEqual([]);
});

test.each(["statement", "transaction"])("after a failover that kept the connections, no %s fails", async (kind) => {
  const database = open(4);
  await makeSessionsReadOnly(database, 4);
  const write = (writer: Writer) => writer.write("write", "update things set amount = 2 where id = 1 returning id");
  const writeOnce = () => (kind === "statement" ? write(database) : database.transaction(write));
  expect(await Promise.all([writeOnce(), writeOnce(), writeOnce()])).toEqual([
    [{ id: "1" }],
    [{ id: "1" }],
    [{ id: "1" }],
  ]);
});

test("a statement whose preparation the session has lost is prepared in another session", async () => {
  const database = open(1);
  const read = () => database.rows("read", "select id from things where id = $1", [1]);
  await read();
  await database.rows("forget", "deallocate all");
  expect(await read()).toEqual([{ id: "1" }]);
});

test("a database that remains read-only gets at most one round of new connections a second", async () => {
  await owner.database.rows("read-only", `alter database ${databaseName()} set default_transaction_read_only = on`);
  const database = open(1);
  const pid = async () => (await database.rows("pid", "select pg_backend_pid() as pid"))[0];
  const write = () => database.rows("write", "update things set amount = 2 where id = 1");
  await expect(write()).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  const before = await pid();
  await expect(write()).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  expect(await pid()).toEqual(before);
});

function open(connectionsMax: number): Database {
  const database = createDatabase({
    url: owner.url,
    applicationName: "sessions",
    connectionsMax,
    statementTimeoutMs: 30_000,
    lockTimeoutMs: 30_000,
    acquireTimeoutMs: 30_000,
  });
  onTestFinished(() => database.close());
  return database;
}

const databaseName = () => new URL(owner.url).pathname.slice(1);

/** Opens all connections of the pool, and makes each of their sessions read-only. */
async function makeSessionsReadOnly(database: Database, connectionsMax: number): Promise<void> {
  const everyone = Promise.withResolvers<void>();
  let count = 0;
  const change = () =>
    database.transaction(async (transaction) => {
      await transaction.rows("read-only", "set session characteristics as transaction read only");
      if (++count === connectionsMax) everyone.resolve();
      await everyone.promise;
    });
  await Promise.all(Array.from({ length: connectionsMax }, change));
}

/** Repeats each of the requests, twice at the same time, until `stop` or an error. */
function startLoad(...requests: readonly (() => Promise<unknown>)[]) {
  const errors: unknown[] = [];
  let successes = 0;
  const stopping = new AbortController();
  const repeat = async (request: () => Promise<unknown>) => {
    try {
      for (; !stopping.signal.aborted; successes++) await request();
    } catch (error) {
      errors.push(error);
    }
  };
  const running = Promise.all([...requests, ...requests].map(repeat));
  return {
    async succeedMore(count: number) {
      const target = successes + count;
      await expect.poll(() => errors.length > 0 || successes > target).toBe(true);
    },
    /** @returns the errors. */
    async stop() {
      stopping.abort();
      await running;
      return errors;
    },
  };
}
