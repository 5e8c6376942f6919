// A crash of the database may give transaction numbers out again: what they meant before must not count afterwards.
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createChangeFeed } from "../../src/feed/change-feed.ts";
import { createFeedFollower } from "../../src/feed/feed-follower.ts";
import { startFeedListener } from "../../src/feed/feed-listener.ts";
import { openOutbox } from "../../src/feed/outbox.ts";
import { includesWrite, type WritePosition } from "../../src/feed/position.ts";
import {
  type LocalPostgres,
  removeLocalPostgres,
  startLocalPostgres,
} from "../../src/local-postgres/local-postgres.ts";
import { runInWriteScope } from "../../src/postgres/write-scope.ts";
import type { TestDatabase } from "../../src/testing/database.ts";
import { connect, createRecordedDatabase, openTestOutbox } from "../../src/testing/feed.ts";

const key = "a key for these tests";

let folder: string;
let postgres: LocalPostgres;
let database: TestDatabase;
let lastId = 0;
/** How often the server has reported that it accepts connections: once per start, and once per recovery. */
let readyCount = 0;
beforeAll(async () => {
  // A cluster of its own: a killed backend ends the sessions of all databases.
  folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tributary-feed-crash-"));
  chmodSync(folder, 0o755);
  postgres = await start(0);
  database = await createRecordedDatabase(postgres.superuserUrl);
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
  removeLocalPostgres(join(folder, "postgres"));
  rmSync(folder, { recursive: true, force: true });
});

test("after a crash no earlier position includes a write, and all of them are gaps", async () => {
  const before = await readOnce();
  const known = await write();
  const after = await readOnce();
  expect([includesWrite(before, known), includesWrite(after, known)]).toEqual([false, true]);
  await crash();
  // Before any reader: its session has begun the new epoch.
  const early = await write();
  const current = await readOnce();
  const late = await write();
  expect(current.epoch).not.toBe(after.epoch);
  expect([early.epoch, late.epoch]).toEqual([current.epoch, current.epoch]);
  for (const position of [before, after]) {
    expect([includesWrite(position, early), includesWrite(position, late)]).toEqual([false, false]);
  }
  expect(includesWrite(current, early)).toBe(true);
  expect([includesWrite(current, late), includesWrite(await readOnce(), late)]).toEqual([false, true]);
  expect(includesWrite(current, known)).toBe(false);
  const outbox = await openTestOutbox(database.url);
  onTestFinished(() => outbox.close());
  expect((await outbox.read(after)).changes).toBe("gap");
  expect((await outbox.read(current)).changes).toMatchObject([{ kind: "thing", after: { id: String(lastId) } }]);
});

test("after a restart without a crash, positions remain valid", async () => {
  const before = await readOnce();
  const written = await write();
  await postgres.stop();
  postgres = await start(postgres.port);
  await whenUp();
  const outbox = await openTestOutbox(database.url);
  onTestFinished(() => outbox.close());
  const { position, changes } = await outbox.read(before);
  expect([position.epoch, changes]).toMatchObject([before.epoch, [{ after: { id: String(lastId) } }]]);
  expect(includesWrite(position, written)).toBe(true);
});

test("after a crash a follower gets a reset, and knows earlier and later writes", async () => {
  const feed = createChangeFeed({
    openOutbox: (on) => openOutbox({ ...on, databaseUrl: database.url, applicationName: "crash-feed" }),
    groupsOf: () => ["things"],
    onError() {},
  });
  const listener = await startFeedListener({ feed, host: "127.0.0.1", port: 0, keys: [key] });
  const seen: string[] = [];
  const follower = createFeedFollower({
    urls: [listener.url],
    key,
    onChanges: (groups) => seen.push(...groups),
    onReset: () => seen.push("reset"),
    onState: (state) => seen.push(state),
  });
  onTestFinished(async () => {
    await follower.close();
    await Promise.all([listener.close(), feed.close()]);
  });
  await expect.poll(() => follower.isUp()).toBe(true);
  const known = await write();
  await expect.poll(() => follower.knows(known)).toBe(true);
  seen.length = 0;
  await crash();
  // The follower may fail to reconnect some times before.
  await expect.poll(() => follower.isUp() && seen.includes("reset")).toBe(true);
  expect(seen).toEqual(["down", "reset", "up"]);
  // The reset includes it. Of an epoch that this process has not followed, no write is known.
  expect(follower.knows(known)).toBe(true);
  expect(follower.knows({ ...known, epoch: randomUUID() })).toBe(false);
  const later = await write();
  await expect.poll(() => follower.knows(later)).toBe(true);
  expect(seen.at(-1)).toBe("things");
});

/** Kills one backend with SIGKILL: PostgreSQL then ends all sessions, and recovers as after a power failure. */
async function crash(): Promise<void> {
  const victim = await connect(postgres.superuserUrl);
  const { rows } = await victim.query<{ pid: number }>("select pg_backend_pid() as pid");
  const before = readyCount;
  process.kill(rows[0]?.pid ?? 0, "SIGKILL");
  await expect.poll(() => readyCount).toBeGreaterThan(before);
  await whenUp();
}

async function start(port: number): Promise<LocalPostgres> {
  const log = (line: string) => void (line.includes("ready to accept connections") && readyCount++);
  return startLocalPostgres({ directory: join(folder, "postgres"), port, log });
}

/** Waits until the pool has replaced the connections that were lost. */
async function whenUp(): Promise<void> {
  await expect.poll(() => database.database.isReachable()).toBe(true);
}

async function readOnce() {
  const outbox = await openTestOutbox(database.url);
  const { position } = await outbox.read(undefined);
  await outbox.close();
  return position;
}

async function write(): Promise<WritePosition> {
  return runInWriteScope(async (scope) => {
    await database.database.write("insert", "insert into things (id, amount) values ($1, 1) returning id", [++lastId]);
    if (!scope.position) throw new Error("The write has no position.");
    return scope.position;
  });
}
