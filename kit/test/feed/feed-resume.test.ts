// Many followers of one replica, over real sockets: they start at once when the service starts, and resume at once when a replica stops.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { type ChangeFeed, createChangeFeed } from "../../src/feed/change-feed.ts";
import { createFeedFollower } from "../../src/feed/feed-follower.ts";
import { type FeedListener, startFeedListener } from "../../src/feed/feed-listener.ts";
import { openOutbox, type Outbox } from "../../src/feed/outbox.ts";
import { type FeedPosition, writeFeedPosition } from "../../src/feed/position.ts";
import type { TestDatabase } from "../../src/testing/database.ts";
import { createCollector, createRecordedDatabase } from "../../src/testing/feed.ts";

const key = "a key for tests only";
const followersCount = 20;

let database: TestDatabase;
beforeAll(async () => {
  database = await createRecordedDatabase(inject("postgresUrl"));
  await database.database.rows("fill", "insert into things select n, 1 from generate_series(1, 9000) as n");
});
afterAll(() => database.close());

test("all that start or resume at one position share one read, and wait for it without a new connection", async () => {
  const first = await startReplica();
  first.hold();
  const followers = startFollowers(first.listener.url);
  await expect.poll(() => first.resumed.length).toBe(followersCount);
  first.release();
  await expect.poll(() => followers.every((follower) => follower.isUp())).toBe(true);
  // One for the replica's own position, and one for all followers.
  expect(first.readsAt("start")).toBe(2);
  await first.stop();

  const amount = "update things set amount = amount + 1";
  await database.database.rows("change", amount);
  const second = await startReplica(Number(new URL(first.listener.url).port));
  second.hold();
  await expect.poll(() => second.resumed.length).toBe(followersCount);
  const waiting = await fetch(`${second.listener.url}/changes`, { headers: { authorization: `Bearer ${key}` } });
  // Much longer than a silence that ends a stream.
  await readUntil(waiting, (text) => text.split(": waiting").length > 8);
  expect([second.resumed.length, second.streams()]).toEqual([followersCount + 1, followersCount + 1]);
  second.release();
  await expect.poll(() => followers.every((follower) => follower.isUp())).toBe(true);
  const positions = new Set(second.resumed.filter((position) => position !== "start"));
  expect([...positions].map((position) => second.readsAt(position))).toEqual([...positions].map(() => 1));
  expect(second.resumed.length).toBe(followersCount + 1);
});

test("while many resume at different positions, those that follow still get their events", async () => {
  const { feed, readsAt, slowDown } = await startReplica();
  const follower = createCollector();
  feed.subscribe(follower, undefined);
  await expect.poll(() => follower.events.length).toBeGreaterThan(0);
  const positions: FeedPosition[] = [];
  while (positions.length < 15) {
    await database.database.rows("one", "update things set amount = amount + 1 where id = 1");
    feed.onCommit();
    const { length } = follower.events;
    await expect.poll(() => follower.events.length).toBeGreaterThan(length);
    positions.push((follower.events.at(-1) ?? expect.fail("no event")).position);
  }
  slowDown(100);
  const { length } = follower.events;
  const resuming = positions.map((position) => {
    const collector = createCollector();
    feed.subscribe(collector, position);
    return collector;
  });
  await expect.poll(() => resuming.every(({ events }) => events.length > 0)).toBe(true);
  expect(follower.events.length - length).toBeGreaterThan(3);
  expect(readsAt(writeFeedPosition(positions[0] ?? expect.fail()))).toBeGreaterThan(0);
});

/** A replica of the service, whose reads of the outbox the test holds or slows down. */
async function startReplica(port = 0) {
  const reads: string[] = [];
  const resumed: string[] = [];
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  let pauseMs = 0;
  let streams = 0;
  const nameOf = (position: FeedPosition | undefined) => (position ? writeFeedPosition(position) : "start");
  const feed = createChangeFeed({
    groupsOf: ({ after }) => [`things:${after?.["id"]}`],
    onError: () => {},
    async openOutbox(on): Promise<Outbox> {
      const outbox = await openOutbox({ ...on, databaseUrl: database.url, applicationName: "resumed" });
      return {
        ...outbox,
        async read(since) {
          reads.push(nameOf(since));
          await gate.promise;
          await sleep(pauseMs);
          return outbox.read(since);
        },
      };
    },
  });
  const observed: ChangeFeed = {
    subscribe(subscriber, since) {
      resumed.push(nameOf(since));
      return feed.subscribe(subscriber, since);
    },
    onCommit() {},
    close: () => feed.close(),
  };
  const listener: FeedListener = await startFeedListener({
    ...{ feed: observed, host: "127.0.0.1", port, keys: [key] },
    observer: { onStreams: (count) => void (streams = count), onResetSent() {} },
  });
  async function stop() {
    gate.resolve();
    await Promise.all([listener.close().catch(() => {}), feed.close()]);
  }
  onTestFinished(stop);
  return {
    ...{ feed, listener, resumed, stop },
    streams: () => streams,
    readsAt: (position: string) => reads.filter((read) => read === position).length,
    hold: () => void (gate = Promise.withResolvers()),
    release: () => gate.resolve(),
    slowDown: (ms: number) => void (pauseMs = ms),
  };
}

function startFollowers(url: string) {
  return Array.from({ length: followersCount }, () => {
    const follower = createFeedFollower({ urls: [url], key, onChanges() {}, onReset() {}, onState() {} });
    onTestFinished(() => follower.close());
    return follower;
  });
}

async function readUntil(response: Response, isEnough: (text: string) => boolean): Promise<void> {
  let text = "";
  for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (isEnough(text)) return;
  }
}
