import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, inject, onTestFinished, test, vi } from "vitest";
import {
  type ChangeFeed,
  type ChangeFeedOptions,
  createChangeFeed,
  type FeedEvent,
} from "../../src/feed/change-feed.ts";
import type { FeedPosition } from "../../src/feed/position.ts";
import { type RecordedChange, openOutbox } from "../../src/feed/outbox.ts";
import { createDatabase } from "../../src/postgres/postgres.ts";
import type { TestDatabase } from "../../src/testing/database.ts";
import { createCollector, createRecordedDatabase, makeTrimDue, openTestOutbox } from "../../src/testing/feed.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createRecordedDatabase(inject("postgresUrl"));
});
afterAll(() => database.close());
let nextId = 0;
beforeEach(() => vi.useRealTimers());

test("a subscriber gets a reset, then the groups of each commit once per event", async () => {
  const { feed } = startFeed();
  const reader = subscribe(feed);
  await expect.poll(() => reader.events[0]?.kind).toBe("reset");
  await database.database.transaction(async (transaction) => {
    await transaction.rows("one", "insert into things values ($1, 1, 'one')", [++nextId]);
    await transaction.rows("two", "insert into things values ($1, 1, 'two')", [++nextId]);
  });
  await expect.poll(() => reader.groups().toSorted()).toEqual(["things", `things:${nextId - 1}`, `things:${nextId}`]);
});

test("without changes a subscriber gets positions, by which it knows that the feed is up", async () => {
  const { feed } = startFeed();
  const reader = subscribe(feed);
  await expect.poll(() => reader.events.length).toBeGreaterThan(3);
  expect(reader.events.slice(1, 4)).toMatchObject(Array.from({ length: 3 }, () => ({ kind: "changes", groups: [] })));
});

test("a subscriber that resumes gets what it missed, and one without a position only what follows", async () => {
  const { feed } = startFeed();
  const early = subscribe(feed);
  await expect.poll(() => early.events.length).toBeGreaterThan(0);
  await insert();
  await expect.poll(() => early.groups()).toContain(`things:${nextId}`);
  const resumed = subscribe(feed, early.events[0]?.position);
  const fresh = subscribe(feed);
  await expect.poll(() => Math.min(resumed.events.length, fresh.events.length)).toBeGreaterThan(1);
  expect(resumed.events[0]).toMatchObject({ kind: "changes", groups: ["things", `things:${nextId}`] });
  expect([fresh.events[0]?.kind, fresh.groups()]).toEqual(["reset", []]);
});

test("a commit at one replica makes the others read the outbox at once, also without subscribers of its own", async () => {
  const [writing, reading] = [startFeed(), startFeed()];
  const reader = subscribe(reading.feed);
  await expect.poll(() => reader.events.length).toBeGreaterThan(0);
  // Ends the polling of the feeds: only a notification makes them read now.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const eventCount = await whenQuiet(() => reader.events.length);
  await insert();
  expect(reader.groups()).toEqual([]);
  writing.feed.onCommit();
  // expect.poll would advance the fake timers.
  while (reader.events.length === eventCount) await sleep(10);
  expect(reader.groups()).toEqual(["things", `things:${nextId}`]);
});

test("a replica without subscribers does not read the outbox, but notifies and trims", async () => {
  const replica = startFeed();
  const reader = subscribe(replica.feed);
  await expect.poll(() => reader.events.length).toBeGreaterThan(0);
  reader.leave();
  // One more read may be in progress.
  await whenQuiet(() => replica.calls.length);
  const { length } = replica.calls;
  replica.feed.onCommit();
  await expect.poll(() => replica.calls.slice(length)).toEqual(["notify"]);
  expect(reader.isEnded()).toBe(false);

  const other = startFeed();
  other.feed.onCommit();
  await expect.poll(() => other.calls).toEqual(["notify", "trim"]);
});

test("a feed that neither has subscribers nor commits does not connect", async () => {
  const replica = startFeed();
  await replica.feed.close();
  expect(replica.openCount()).toBe(0);
});

test("a backlog of old changes is trimmed completely", async () => {
  await database.database.rows("fill", "insert into feed_changes (kind) select 'thing' from generate_series(1, 6000)");
  const trim = async () => {
    await makeTrimDue(database);
    startFeed().feed.onCommit();
    await expect.poll(() => isTrimDue()).toBe(false);
    return countChanges();
  };
  // Repeated: a trim keeps what is newer than the oldest transaction of the cluster, which can be one of another test file.
  await expect.poll(trim).toBe(0);
});

test("a feed reports about how many changes its outbox has", async () => {
  await database.database.rows("fill", "insert into feed_changes (kind) select 'thing' from generate_series(1, 6000)");
  onTestFinished(async () => void (await database.database.rows("empty", "delete from feed_changes")));
  // PostgreSQL counts the rows within a second.
  const reportSize = async () => {
    await database.database.rows("flush", "select 1");
    const { feed, outboxSizes } = startFeed();
    feed.onCommit();
    await expect.poll(() => outboxSizes.length).toBe(1);
    return outboxSizes[0];
  };
  await expect.poll(reportSize).toBeGreaterThanOrEqual(6_000);
});

test("a change of an unknown kind, everything, and a change whose groups cannot be computed are a reset", async () => {
  const { feed, errors } = startFeed({
    groupsOf: ({ kind, after }) => {
      if (after?.["name"] === "broken") throw new Error("no groups");
      return kind === "newer" ? undefined : ["things"];
    },
  });
  const reader = subscribe(feed);
  const resetCount = () => reader.events.filter(({ kind }) => kind === "reset").length;
  await expect.poll(resetCount).toBe(1);
  await database.database.rows("unknown", "insert into feed_changes (kind) values ('newer')");
  await expect.poll(resetCount).toBe(2);
  await database.database.rows("everything", "select publish_everything()");
  await expect.poll(resetCount).toBe(3);
  await insert("broken");
  await expect.poll(resetCount).toBe(4);
  expect([errors.length > 0, reader.isEnded()]).toEqual([true, false]);
  await insert();
  await expect.poll(() => reader.groups()).toEqual(["things"]);
});

test("a change carries the subjects whose tokens it revoked, and a reset all of them", async () => {
  const listed: number[] = [];
  const { feed, errors } = startFeed({
    groupsOf: ({ kind }) => (kind === "newer" ? undefined : []),
    revocations: {
      ofChange({ after }) {
        if (after?.["name"] === "unreadable") throw new Error("no subjects");
        if (after?.["name"] === "restored") return undefined;
        return after?.["name"] === "revoked" ? [String(after["id"])] : [];
      },
      list: (limit) => (listed.push(limit), Promise.resolve(["1", "2"])),
    },
  });
  const reader = subscribe(feed);
  const revokedBy = (kind: string) => reader.events.flatMap((e) => (e.kind === kind && e.revoked ? [e.revoked] : []));
  await expect.poll(() => revokedBy("reset")).toEqual([["1", "2"]]);
  for (const name of [null, "revoked"]) await insert(name);
  await expect.poll(() => revokedBy("changes")).toEqual([[String(nextId)]]);
  await database.database.rows("unknown", "insert into feed_changes (kind) values ('newer')");
  await expect.poll(() => revokedBy("reset").length).toBe(2);
  await insert("unreadable");
  await expect.poll(() => revokedBy("reset").length).toBe(3);
  // The end of a revocation: subscribers forget those that are not in the list.
  await insert("restored");
  await expect.poll(() => revokedBy("reset").length).toBe(4);
  expect([listed, errors.length, reader.isEnded()]).toEqual([[10_000, 10_000, 10_000, 10_000], 1, false]);
});

test("more than 1,000 groups in one batch are a reset, which the feed reports", async () => {
  const { feed, floods } = startFeed({ groupsOf: ({ after }) => [`things:${after?.["id"]}`, `more:${after?.["id"]}`] });
  const reader = subscribe(feed);
  await expect.poll(() => reader.events.length).toBeGreaterThan(0);
  const fill = (count: number) =>
    database.database.rows("fill-n", "insert into things select $1::int + n, 1 from generate_series(1, $2::int) as n", [
      nextId,
      count,
    ]);
  await fill(500);
  nextId += 500;
  await expect.poll(() => reader.groups().length).toBe(1_000);
  // Too many groups, and too many changes.
  for (const [index, count] of [501, 10_001].entries()) {
    const from = reader.events.length;
    await fill(count);
    nextId += count;
    await expect.poll(() => reader.events.slice(from).some(({ kind }) => kind === "reset")).toBe(true);
    expect(floods).toEqual(Array.from({ length: index + 1 }, () => 1));
  }
  expect(reader.groups().length).toBe(1_000);
});

test("a lost database ends the subscriptions, and a later one resumes without a gap", async () => {
  const { feed, errors, applicationName } = startFeed();
  const reader = subscribe(feed);
  await expect.poll(() => reader.events.length).toBeGreaterThan(0);
  const last = () => reader.events.at(-1)?.position;
  await database.database.rows(
    "end",
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1",
    [applicationName],
  );
  await expect.poll(() => reader.isEnded()).toBe(true);
  expect(errors.length).toBe(1);
  await insert();
  const resumed = subscribe(feed, last());
  await expect.poll(() => resumed.groups()).toEqual(["things", `things:${nextId}`]);
  expect(resumed.events.map(({ kind }) => kind)).not.toContain("reset");
});

test("a position of another epoch is a gap", async () => {
  const { feed } = startFeed();
  const first = subscribe(feed);
  await expect.poll(() => first.events.length).toBeGreaterThan(0);
  const { snapshot } = (first.events[0] as FeedEvent).position;
  const foreign = subscribe(feed, { epoch: "00000000-0000-4000-8000-000000000000", snapshot });
  await expect.poll(() => foreign.events[0]?.kind).toBe("reset");
});

test("an epoch that names another cluster, as in a restored database, is replaced", async () => {
  const first = startFeed();
  const reader = subscribe(first.feed);
  await expect.poll(() => reader.events.length).toBeGreaterThan(0);
  await first.feed.close();
  await database.database.rows("move", "update feed_epoch set system_identifier = system_identifier + 1");
  const resumed = subscribe(startFeed().feed, reader.events.at(-1)?.position);
  await expect.poll(() => resumed.events[0]?.kind).toBe("reset");
  expect(resumed.events[0]?.position.epoch).not.toBe(reader.events[0]?.position.epoch);
});

test("a database that was restored into another cluster sends none of the former cluster's changes", async () => {
  const restored = await createRecordedDatabase(inject("postgresUrl"));
  onTestFinished(() => restored.close());
  const run = (text: string) => restored.database.rows(text, text);
  // What a dump has: the changes of the last minute, with the transaction numbers of a cluster that had more.
  await run("update feed_trim set trimmed_below = '900000000', next_below = '900001000'");
  await run("insert into feed_changes (xid, kind, after) values ('900000500', 'thing', '{\"id\": \"7\"}')");
  await run("update feed_epoch set system_identifier = system_identifier + 1");

  const outbox = await openTestOutbox(restored.url);
  onTestFinished(() => outbox.close());
  const { position } = await outbox.read(undefined);
  await restored.database.write("insert", "insert into things values (8, 1) returning id");
  expect((await outbox.read(position)).changes).toEqual([expect.objectContaining({ after: { id: "8", name: null } })]);
});

test("closing ends the subscriptions", async () => {
  const { feed } = startFeed();
  const reader = subscribe(feed);
  await expect.poll(() => reader.events.length).toBeGreaterThan(0);
  await feed.close();
  expect(reader.isEnded()).toBe(true);
});

test("a database calls onCommit after each committed write, and not after a rollback", async () => {
  let commitCount = 0;
  const written = createDatabase({
    url: database.url,
    applicationName: "commits",
    connectionsMax: 2,
    statementTimeoutMs: 5_000,
    lockTimeoutMs: 5_000,
    acquireTimeoutMs: 10_000,
    onCommit: () => commitCount++,
  });
  onTestFinished(() => written.close());
  const text = "insert into things values ($1, 1) returning id";
  await written.write("insert", text, [++nextId]);
  expect(commitCount).toBe(1);
  await written.transaction(async (transaction) => {
    await transaction.write("insert", text, [++nextId]);
    await transaction.write("insert", text, [++nextId]);
    expect(commitCount).toBe(1);
  });
  expect(commitCount).toBe(2);
  const failing = written.transaction(async (transaction) => {
    await transaction.write("insert", text, [++nextId]);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(commitCount).toBe(2);
});

/** A replica of the service, and the calls of its outbox. */
function startFeed({
  groupsOf = groupsOfThing,
  revocations,
}: Partial<Pick<ChangeFeedOptions, "groupsOf" | "revocations">> = {}) {
  const calls: string[] = [];
  const errors: unknown[] = [];
  const outboxSizes: number[] = [];
  const floods: number[] = [];
  const applicationName = `feed-${Math.random()}`;
  let openCount = 0;
  const feed = createChangeFeed({
    groupsOf,
    revocations,
    onError: (error) => errors.push(error),
    onTrimmed: (changes) => outboxSizes.push(changes),
    onFlood: (readers) => floods.push(readers),
    async openOutbox(on) {
      openCount++;
      const outbox = await openOutbox({ ...on, databaseUrl: database.url, applicationName });
      return {
        read: (since) => (calls.push("read"), outbox.read(since)),
        notify: () => (calls.push("notify"), outbox.notify()),
        trim: () => (calls.push("trim"), outbox.trim()),
        estimateChanges: () => outbox.estimateChanges(),
        close: () => outbox.close(),
      };
    },
  });
  onTestFinished(() => feed.close());
  return { feed, calls, errors, outboxSizes, floods, applicationName, openCount: () => openCount };
}

function subscribe(feed: ChangeFeed, since?: FeedPosition) {
  const collector = createCollector();
  return { ...collector, leave: feed.subscribe(collector, since) };
}

function groupsOfThing({ before, after }: RecordedChange): readonly string[] {
  return ["things", `things:${(after ?? before)?.["id"]}`];
}

async function insert(name: string | null = null): Promise<void> {
  await database.database.rows("insert", "insert into things values ($1, 1, $2)", [++nextId, name]);
}

async function isTrimDue(): Promise<boolean | undefined> {
  const [row] = await database.database.rows<{ due: boolean }>("is-due", "select due <= now() as due from feed_trim");
  return row?.due;
}

async function countChanges(): Promise<number | undefined> {
  const text = "select count(*)::int as count from feed_changes";
  const [row] = await database.database.rows<{ count: number }>("count", text);
  return row?.count;
}

/** Waits until the number has not changed for longer than a poll of the outbox takes. @returns the number. */
async function whenQuiet(count: () => number): Promise<number> {
  for (let previous = -1; previous !== count(); await sleep(500)) previous = count();
  return count();
}
