import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { migrate, publishEverything } from "../../src/postgres/migrate.ts";
import { silentLog } from "../../src/process/log.ts";
import { createTestDatabase, type TestDatabase } from "../../src/testing/database.ts";
import { openTestOutbox, thingMigrations } from "../../src/testing/feed.ts";
import type { Outbox, RecordedChange } from "../../src/feed/outbox.ts";
import type { FeedPosition } from "../../src/feed/position.ts";

let database: TestDatabase;
let outbox: Outbox;
let position: FeedPosition;
let runCount = 0;
beforeAll(async () => {
  database = await createTestDatabase(inject("postgresUrl"), thingMigrations);
  await run(`create table notes (
    id bigint primary key, author_id bigint, long_column_name text, price numeric, details json, secret text)`);
  await run("select record_changes_of('notes', 'note', 'id', 'author_id', 'long_column_name')");
  outbox = await openTestOutbox(database.url);
  ({ position } = await outbox.read(undefined));
});
afterAll(async () => {
  await outbox.close();
  await database.close();
});

const [id, authorId] = ["9223372036854775807", "9007199254740993"];

test("an insert, an update and a delete are recorded with these columns only, ids with all digits, and nulls", async () => {
  const first = { id, authorId, longColumnName: null };
  const second = { ...first, longColumnName: "a 'name'" };
  await run(`insert into notes values (${id}, ${authorId}, null, 1.0, '{}', 'secret')`);
  expect(await take()).toEqual([{ kind: "note", before: null, after: first }]);
  await run("update notes set long_column_name = 'a ''name'''");
  expect(await take()).toEqual([{ kind: "note", before: first, after: second }]);
  await run("delete from notes");
  expect(await take()).toEqual([{ kind: "note", before: second, after: null }]);
});

test("an update is recorded if any column has other bytes, also an unnamed one or an equal number", async () => {
  await run(`insert into notes values (1, 1, 'x', 1.0, '{}', 'secret')`);
  await take();
  await run("update notes set id = id, secret = 'secret'");
  expect(await take()).toEqual([]);
  for (const change of ["secret = 'other'", "price = 1.00", `details = '{ }'`, "secret = null"]) {
    await run(`update notes set ${change}`);
    expect([change, await take()]).toMatchObject([change, [{ kind: "note", after: { id: "1" } }]]);
  }
  await run("delete from notes");
  await take();
});

test("a statement records each row that it changes, and a rolled back one none", async () => {
  await run("insert into notes (id) select n from generate_series(1, 3) as n");
  expect(new Set((await take()).map(({ after }) => after?.["id"]))).toEqual(new Set(["1", "2", "3"]));
  const failing = database.database.transaction(async (transaction) => {
    await transaction.rows("x", "delete from notes");
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await take()).toEqual([]);
  await run("delete from notes");
  expect(await take()).toHaveLength(3);
});

test("a second call replaces the kind and the columns, and records each change once", async () => {
  await run("select record_changes_of('notes', 'renamed', 'author_id')");
  await run("insert into notes values (1, 2)");
  await run("update notes set author_id = 3");
  await run("delete from notes");
  const changes = new Set(await take());
  expect(changes).toEqual(
    new Set([
      { kind: "renamed", before: null, after: { authorId: "2" } },
      { kind: "renamed", before: { authorId: "2" }, after: { authorId: "3" } },
      { kind: "renamed", before: { authorId: "3" }, after: null },
    ]),
  );
});

test("a table and a column whose names need quotes can be recorded", async () => {
  await run(`create table "Odd 'Table" (id int, "weird 'col""umn" int)`);
  await run(`select record_changes_of('"Odd ''Table"', 'it''s', 'id', 'weird ''col"umn')`);
  await run(`insert into "Odd 'Table" values (1, 2)`);
  expect(await take()).toEqual([{ kind: "it's", before: null, after: { id: "1", [`weird 'col"umn`]: "2" } }]);
});

test("a column that does not exist fails the migration, not later writes", async () => {
  await run("create table others (id int, dropped int)");
  await run("alter table others drop dropped");
  const recording = run("select record_changes_of('others', 'other', 'id', 'nothing', 'dropped')");
  await expect(recording).rejects.toThrow("others has no column nothing, dropped");
});

test("publishing everything is a change of the kind `everything`", async () => {
  await publishEverything(database.url);
  expect(await take()).toEqual([{ kind: "everything", before: null, after: null }]);
});

test("migrate publishes everything if it has applied a migration of the service, and otherwise nothing", async () => {
  await migrate({ databaseUrl: database.url, directory: thingMigrations, log: silentLog });
  expect(await take()).toEqual([]);
  const directory = mkdtempSync(join(tmpdir(), "tributary-migrations-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  cpSync(thingMigrations, directory, { recursive: true });
  writeFileSync(join(directory, "0002-size.sql"), "alter table things add size int not null default 1;\n");
  await migrate({ databaseUrl: database.url, directory, log: silentLog });
  expect(await take()).toEqual([{ kind: "everything", before: null, after: null }]);
});

function run(text: string): Promise<readonly unknown[]> {
  return database.database.rows(`run-${++runCount}`, text);
}

/** The changes since the last call. */
async function take(): Promise<readonly RecordedChange[]> {
  const { changes, position: next } = await outbox.read(position);
  position = next;
  if (typeof changes === "string") throw new Error(`a ${changes} without a trim`);
  return changes;
}
