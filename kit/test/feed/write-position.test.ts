// Which writes the position includes that a service sends with the response to an unsafe request.
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { runAndAddWritePosition, writePositionHeader } from "../../src/consistency/write-position-header.ts";
import { AppError, type ErrorCode } from "../../src/errors/app-error.ts";
import type { Outbox } from "../../src/feed/outbox.ts";
import { includesWrite, readWritePosition, type WritePosition } from "../../src/feed/position.ts";
import { createDatabase, type Writer } from "../../src/postgres/postgres.ts";
import type { TestDatabase } from "../../src/testing/database.ts";
import { createRecordedDatabase, openTestOutbox } from "../../src/testing/feed.ts";

const insert = "insert into things (id, amount) values ($1, 1) returning id, amount";

let database: TestDatabase;
let outbox: Outbox;
let nextId = 0;
beforeAll(async () => {
  database = await createRecordedDatabase(inject("postgresUrl"));
  outbox = await openTestOutbox(database.url);
});
afterAll(async () => {
  await outbox.close();
  await database.close();
});

test("a write of one statement has its position without another statement, and its rows are unchanged", async () => {
  const before = await outbox.read(undefined);
  const { position, statements, result } = await request((writer) => writer.write("insert", insert, [++nextId]));
  expect([result, statements]).toEqual([[{ id: String(nextId), amount: 1 }], ["insert"]]);
  expect(includesWrite(before.position, position)).toBe(false);
  await expectExact(position, nextId);
});

test("a transaction has its position after the commit, whichever of its statements is a `write`", async () => {
  const { position, statements } = await request(() =>
    database.database.transaction(async (transaction) => {
      await transaction.rows("first", "insert into things values ($1, 1)", [++nextId]);
      await transaction.write("insert", insert, [++nextId]);
      await transaction.rows("last", "update things set amount = 2 where id = $1", [nextId]);
    }),
  );
  expect(statements).toEqual(["first", "insert", "last"]);
  await expectExact(position, nextId);
});

test("while its transaction runs, no position includes the write", async () => {
  const { position } = await request(() =>
    database.database.transaction(async (transaction) => {
      await transaction.write("insert", insert, [++nextId]);
      const other = await request((writer) => writer.write("insert", insert, [++nextId]));
      const meanwhile = await outbox.read(undefined);
      expect(includesWrite(meanwhile.position, other.position)).toBe(true);
      onTestFinished(() => expect(includesWrite(meanwhile.position, position)).toBe(false));
    }),
  );
  expect(includesWrite((await outbox.read(undefined)).position, position)).toBe(true);
});

test("a rolled back write has no position: the one of the response is later", async () => {
  let rolledBack: number | undefined;
  const { position, statements } = await request(async () => {
    const failing = database.database.transaction(async (transaction) => {
      await transaction.write("insert", insert, [++nextId]);
      const [row] = await transaction.rows<{ xid: string }>("xid", "select pg_current_xact_id()::text as xid");
      rolledBack = Number(row?.xid);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
  });
  expect(statements).toEqual(["insert", "xid", "find-write-position"]);
  expect(position.xid).toBeGreaterThan(rolledBack ?? Infinity);
});

test("a request that wrote in several transactions, or nothing, has a position that includes all before it", async () => {
  const several = await request(async (writer) => {
    await writer.write("insert", insert, [++nextId]);
    await writer.write("insert", insert, [++nextId]);
  });
  expect(several.statements).toEqual(["insert", "insert", "find-write-position"]);
  await expectIncludesAll(several.position);
  const nothing = await request((writer) =>
    writer.write("none", "update things set amount = 2 where id = 0 returning id"),
  );
  expect([nothing.result, nothing.statements]).toEqual([[], ["none", "find-write-position"]]);
  await expectIncludesAll(nothing.position);
});

test("concurrent requests have their own positions", async () => {
  const responses = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const id = ++nextId;
      return { id, ...(await request((writer) => writer.write("insert", insert, [id]))) };
    }),
  );
  for (const { id, position } of responses) expect(await xidOf(id)).toBe(position.xid);
});

test("a write outside of a request, as in a script, has no position and no error", async () => {
  await expect(database.database.write("insert", insert, [++nextId])).resolves.toHaveLength(1);
});

test.for<ErrorCode>(["NOT_FOUND", "CONFLICT", "OUT_OF_STOCK", "GONE", "PRECONDITION_FAILED"])(
  "an error that depends on data, such as %s, has a position that includes the writes it may come from",
  async (code) => {
    let position: WritePosition | undefined;
    const failing = runAndAddWritePosition(database.database, addHeader, async () => {
      await database.database.write("insert", insert, [++nextId]);
      // Of another request, which this one conflicts with.
      await request((writer) => writer.write("insert", insert, [++nextId]));
      throw new AppError(code, "No.");
    });
    await expect(failing).rejects.toMatchObject({ code });
    await expectIncludesAll(position);

    function addHeader(name: string, value: string): void {
      expect(name).toBe(writePositionHeader);
      position = readWritePosition(value);
    }
  },
);

test("other errors have no position, and need no statement for it", async () => {
  const errors = [
    new AppError("MALFORMED_REQUEST", "No."),
    new AppError("UNAUTHENTICATED", "No."),
    new AppError("FORBIDDEN", "No."),
    new AppError("BAD_USER_INPUT", "No."),
    new AppError("SERVICE_UNAVAILABLE", "No."),
    new Error("a bug"),
  ];
  database.takeStatements();
  for (const error of errors) {
    const failing = runAndAddWritePosition(database.database, fail, () => Promise.reject(error));
    await expect(failing).rejects.toBe(error);
  }
  expect(database.takeStatements()).toEqual([]);
});

test("a database that fails after the write costs the position, not the response", async () => {
  const closed = createDatabase({
    url: database.url,
    applicationName: "closed",
    connectionsMax: 1,
    statementTimeoutMs: 5_000,
    lockTimeoutMs: 5_000,
    acquireTimeoutMs: 10_000,
  });
  await closed.close();
  expect(await runAndAddWritePosition(closed, fail, async () => "done")).toBe("done");
  const conflict = new AppError("CONFLICT", "No.");
  await expect(runAndAddWritePosition(closed, fail, () => Promise.reject(conflict))).rejects.toBe(conflict);
});

test("a write before any reader has a position that a later reader includes", async () => {
  const other = await createRecordedDatabase(inject("postgresUrl"));
  onTestFinished(() => other.close());
  let position: WritePosition | undefined;
  await runAndAddWritePosition(
    other.database,
    (_, value) => void (position = readWritePosition(value)),
    () => other.database.write("insert", insert, [1]),
  );
  const reader = await openTestOutbox(other.url);
  onTestFinished(() => reader.close());
  expect(position && includesWrite((await reader.read(undefined)).position, position)).toBe(true);
});

/** Runs an unsafe request. @returns the position of its response, and its statements. */
async function request<T>(run: (writer: Writer) => Promise<T>) {
  database.takeStatements();
  let position: WritePosition | undefined;
  const result = await runAndAddWritePosition(
    database.database,
    (name, value) => {
      expect([name, position]).toEqual([writePositionHeader, undefined]);
      position = readWritePosition(value);
    },
    () => run(database.database),
  );
  if (!position) throw new Error("The response has no position.");
  return { result, position, statements: database.takeStatements() };
}

/** Expects that the position is that of the transaction which wrote this row, and that the feed now includes it. */
async function expectExact(position: WritePosition, id: number): Promise<void> {
  expect(position.xid).toBe(await xidOf(id));
  expect(includesWrite((await outbox.read(undefined)).position, position)).toBe(true);
}

/** Expects that a reader which knows the position knows all committed rows. */
async function expectIncludesAll(position: WritePosition | undefined): Promise<void> {
  const [row] = await database.database.rows<{ xid: string }>(
    "last-xid",
    "select max(xid::text::bigint)::text as xid from feed_changes",
  );
  expect(position?.xid).toBeGreaterThan(Number(row?.xid));
  const { position: current } = await outbox.read(undefined);
  expect(position && includesWrite(current, position)).toBe(true);
}

async function xidOf(id: number): Promise<number> {
  const [row] = await database.database.rows<{ xid: string }>(
    "xid-of",
    "select xid::text as xid from feed_changes where after->>'id' = $1 order by xid limit 1",
    [String(id)],
  );
  return Number(row?.xid);
}

function fail(): never {
  throw new Error("No header was expected.");
}
