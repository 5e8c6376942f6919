// The promise of the outbox, with transactions that commit in any order: a reader has got every change that its position includes, and none of a
// transaction that has not committed.
import type pg from "pg";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import type { Outbox } from "../../src/feed/outbox.ts";
import type { FeedPosition } from "../../src/feed/position.ts";
import type { TestDatabase } from "../../src/testing/database.ts";
import { connect, createRecordedDatabase, makeTrimDue, openTestOutbox } from "../../src/testing/feed.ts";
import { createRandom } from "../../src/testing/random.ts";

const writerCount = 6;
const stepCount = 250;
const seeds = [1, 2, 3, 4, Math.floor(Math.random() * 1_000_000)];

interface Writer {
  readonly client: pg.Client;
  /** The ids of the rows that the open transaction has written; undefined without one. */
  pending: string[] | undefined;
}

/** A position, and all changes that its reader has got. */
interface Reader {
  readonly position: FeedPosition;
  readonly delivered: ReadonlySet<string>;
}

let database: TestDatabase;
let outbox: Outbox;
let clients: readonly pg.Client[];
let lastId = 0;
beforeAll(async () => {
  database = await createRecordedDatabase(inject("postgresUrl"));
  outbox = await openTestOutbox(database.url);
  clients = await Promise.all(Array.from({ length: writerCount }, () => connect(database.url)));
});
afterAll(async () => {
  await Promise.all([outbox.close(), ...clients.map((client) => client.end())]);
  await database.close();
});

test.for(seeds)("a reader that resumes anywhere gets each change that its position includes, seed %i", async (seed) => {
  const run = await startRun(seed, { trims: false });
  for (let step = 0; step < stepCount; step++) await run.step();
  expect(run.gapCount()).toBe(0);
});

test.for(seeds)("trimming loses no change silently: a reader gets it or a gap, seed %i", async (seed) => {
  const run = await startRun(seed, { trims: true });
  // Nothing is trimmed while a transaction of another test runs.
  for (let step = 0; step < stepCount || run.gapCount() === 0; step++) await run.step();
});

test("a reader gets each change that its position includes while transactions commit concurrently", async () => {
  const committed = new Map<string, number>();
  const writes = clients.map(async (client, writer) => {
    for (let n = 0; n < 60; n++) {
      await client.query("begin");
      const id = nextId();
      const xid = await write(client, id);
      // Others begin and commit meanwhile, so that transactions end in another order than they began.
      if ((n + writer) % 3 === 0) await client.query("select pg_sleep(random() / 100)");
      await client.query("commit");
      committed.set(id, xid);
    }
  });
  const writing = { isDone: false };
  const written = Promise.all(writes).then(() => void (writing.isDone = true));
  let reader: Reader = { position: (await outbox.read(undefined)).position, delivered: new Set() };
  const before = reader.position;
  const readers: Reader[] = [];
  while (!writing.isDone || readers.length === 0) {
    const { position, changes } = await outbox.read(reader.position);
    if (typeof changes === "string") throw new Error(`a ${changes} without a trim`);
    reader = { position, delivered: new Set([...reader.delivered, ...changes.map(idOf)]) };
    readers.push(reader);
  }
  await written;
  const missing = readers.flatMap(({ position, delivered }) =>
    [...committed].filter(
      ([id, xid]) => position.snapshot.includes(xid) && !before.snapshot.includes(xid) && !delivered.has(id),
    ),
  );
  expect(missing.slice(0, 3)).toEqual([]);
});

test("a reader above the trimmed changes gets the later ones, and a reader below a gap", async () => {
  const [client] = clients;
  if (!client) throw new Error("no connection");
  const early = await outbox.read(undefined);
  await write(client, nextId());
  await waitForEarlierTransactions();
  await makeTrimDue(database);
  await outbox.trim();
  const late = await outbox.read(undefined);
  const id = nextId();
  await write(client, id);
  await makeTrimDue(database);
  await outbox.trim();
  expect((await outbox.read(early.position)).changes).toBe("gap");
  expect((await outbox.read(late.position)).changes).toMatchObject([{ kind: "thing", before: null, after: { id } }]);
});

test("a change is trimmed only if no transaction is running that began before it", async () => {
  const [running, client] = clients;
  if (!running || !client) throw new Error("no connection");
  await running.query("begin");
  onTestFinished(async () => void (await running.query("rollback")));
  await write(running, nextId());
  const id = nextId();
  await write(client, id);
  for (let n = 0; n < 3; n++) {
    await makeTrimDue(database);
    await outbox.trim();
  }
  expect(await database.database.rows("find", "select 1 from feed_changes where after->>'id' = $1", [id])).toHaveLength(
    1,
  );
});

test("a backlog is trimmed in several statements, and a trim that is not due deletes nothing new", async () => {
  await database.database.rows("fill", "insert into feed_changes (kind) select 'thing' from generate_series(1, 4500)");
  await waitForEarlierTransactions();
  for (let n = 0; n < 2; n++) {
    await makeTrimDue(database);
    while (await outbox.trim());
  }
  expect(await countChanges()).toBe(0);
  await database.database.rows("fill", "insert into feed_changes (kind) select 'thing' from generate_series(1, 4500)");
  expect([await outbox.trim(), await countChanges()]).toEqual([false, 4_500]);
  await waitForEarlierTransactions();
  await makeTrimDue(database);
  await outbox.trim();
  await makeTrimDue(database);
  expect([await outbox.trim(), await outbox.trim(), await outbox.trim()]).toEqual([true, true, false]);
  expect(await countChanges()).toBe(0);
});

test("equal changes are read once, and more than 10,000 changes are a flood", async () => {
  const { position } = await outbox.read(undefined);
  const fill = (count: number) =>
    database.database.rows("fill-n", "insert into feed_changes (kind) select 'thing' from generate_series(1, $1)", [
      count,
    ]);
  await fill(10_000);
  expect((await outbox.read(position)).changes).toEqual([{ kind: "thing", before: null, after: null }]);
  await fill(1);
  expect((await outbox.read(position)).changes).toBe("flood");
});

test("more than 1,000 changes that differ are a flood", async () => {
  const { position } = await outbox.read(undefined);
  const fill = `insert into feed_changes (kind, after)
    select 'thing', jsonb_build_object('id', n) from generate_series(1, $1::int) as n, generate_series(1, 3)`;
  await database.database.rows("fill-different", fill, [1_000]);
  expect((await outbox.read(position)).changes).toHaveLength(1_000);
  await database.database.rows("fill-different", fill, [1_001]);
  expect((await outbox.read(position)).changes).toBe("flood");
});

/** Of other tests, in any database of the cluster: while one runs, no change that was written since its begin is trimmed. */
async function waitForEarlierTransactions(): Promise<void> {
  const sql = "select coalesce(pg_snapshot_xmin(pg_current_snapshot()) > max(xid), true) as ended from feed_changes";
  await expect.poll(() => database.database.rows("ended", sql)).toEqual([{ ended: true }]);
}

/** A model of the committed transactions, beside the database. Each step is one random action. */
async function startRun(seed: number, { trims }: { readonly trims: boolean }) {
  const random = createRandom(seed);
  const writers: Writer[] = clients.map((client) => ({ client, pending: undefined }));
  const xids = new Map<string, number>();
  const committed = new Set<string>();
  const readers: Reader[] = [{ position: (await outbox.read(undefined)).position, delivered: new Set() }];
  let gapCount = 0;
  onTestFinished(async () => {
    for (const { client } of writers) await client.query("rollback");
  });

  async function writeOrEnd(writer: Writer): Promise<void> {
    if (!writer.pending) {
      await writer.client.query("begin");
      writer.pending = [];
    } else if (writer.pending.length < 3 && random(2) === 0) {
      const id = nextId();
      xids.set(id, await write(writer.client, id));
      writer.pending.push(id);
    } else {
      const isCommit = random(3) > 0;
      await writer.client.query(isCommit ? "commit" : "rollback");
      if (isCommit) for (const id of writer.pending) committed.add(id);
      writer.pending = undefined;
    }
  }

  async function readFromAnywhere(): Promise<void> {
    const from = readers[random(4) === 0 ? random(readers.length) : readers.length - 1] as Reader;
    const { position, changes } = await outbox.read(from.position);
    if (changes === "flood") return expect.fail(changes);
    const got = changes === "gap" ? committed : changes.map(idOf);
    if (changes === "gap") gapCount++;
    const delivered = new Set([...from.delivered, ...got]);
    const context = `seed ${seed}, from ${from.position.snapshot.text} to ${position.snapshot.text}`;
    expect(
      [...delivered].filter((id) => !committed.has(id)),
      `not committed, ${context}`,
    ).toEqual([]);
    for (const [id, xid] of xids) {
      const isIncluded = position.snapshot.includes(xid) && committed.has(id);
      if (isIncluded && !delivered.has(id)) expect.fail(`${id} of transaction ${xid} is missing, ${context}`);
      // Nothing else runs meanwhile, so the position is exact.
      if (committed.has(id) && !isIncluded) expect.fail(`${context} does not include transaction ${xid}`);
    }
    for (const { pending = [] } of writers) {
      for (const id of pending) expect(position.snapshot.includes(xids.get(id) ?? 0), context).toBe(false);
    }
    readers.push({ position, delivered });
  }

  return {
    gapCount: () => gapCount,
    async step(): Promise<void> {
      const action = random(10);
      if (action < 6) await writeOrEnd(writers[random(writers.length)] as Writer);
      else if (action < 9 || !trims) await readFromAnywhere();
      else {
        await makeTrimDue(database);
        await outbox.trim();
      }
    },
  };
}

async function write(client: pg.Client, id: string): Promise<number> {
  const { rows } = await client.query<{ xid: string }>(
    "insert into things (id, amount) values ($1, 1) returning pg_current_xact_id()::text as xid",
    [id],
  );
  return Number(rows[0]?.xid);
}

function idOf({ after }: { readonly after: Readonly<Record<string, string | null>> | null }): string {
  return after?.["id"] ?? "";
}

function nextId(): string {
  return String(++lastId);
}

async function countChanges(): Promise<number> {
  const [row] = await database.database.rows<{ count: number }>(
    "count",
    "select count(*)::int as count from feed_changes",
  );
  return row?.count ?? 0;
}
