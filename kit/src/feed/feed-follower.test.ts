import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import type { FeedSubscriber } from "./change-feed.ts";
import { createFeedFollower } from "./feed-follower.ts";
import { startFeedListener } from "./feed-listener.ts";
import { parseSnapshot } from "./snapshot.ts";

/** A follower of a feed whose only events are resets, one every 100 ms. */
async function startFollower() {
  const feed = { epoch: randomUUID() as string };
  const reset = (subscriber: FeedSubscriber) =>
    subscriber.send({ kind: "reset", position: { epoch: feed.epoch, snapshot: parseSnapshot("5:5:") } });
  const key = "a key for tests only";
  const listener = await startFeedListener({
    ...{ host: "127.0.0.1", port: 0, keys: [key] },
    feed: {
      subscribe(subscriber) {
        const timer = setInterval(reset, 100, subscriber);
        return () => clearInterval(timer);
      },
      onCommit() {},
      close: () => Promise.resolve(),
    },
  });
  onTestFinished(() => listener.close());
  const follower = createFeedFollower({ urls: [listener.url], key, onChanges() {}, onReset() {}, onState() {} });
  onTestFinished(() => follower.close());
  await expect.poll(() => follower.isUp()).toBe(true);
  return { feed, follower };
}

test("a wait for a write of another epoch ends at once, although the feed is up", async () => {
  const { follower } = await startFollower();
  const moreThanTheTestMs = 600_000;
  for (const other of [undefined, randomUUID()]) {
    expect(await follower.waitFor({ epoch: other, xid: 1 }, moreThanTheTestMs)).toBe(false);
  }
  expect(follower.isUp()).toBe(true);
});

test("a write of a former epoch is known, since the reset of the present one includes it", async () => {
  const { feed, follower } = await startFollower();
  const write = { epoch: feed.epoch, xid: 3 };
  expect(follower.knows(write)).toBe(true);
  feed.epoch = randomUUID();
  await expect.poll(() => follower.epoch()).toBe(feed.epoch);
  expect(follower.knows(write)).toBe(true);
  expect(follower.knows({ ...write, epoch: randomUUID() })).toBe(false);
});

test("an epoch that returns, as after a restore that was undone, is no former one: its new writes are not known yet", async () => {
  const { feed, follower } = await startFollower();
  const original = feed.epoch;
  for (const epoch of [randomUUID(), original]) {
    feed.epoch = epoch;
    await expect.poll(() => follower.epoch()).toBe(epoch);
  }
  expect(follower.knows({ epoch: original, xid: 3 })).toBe(true);
  expect(follower.knows({ epoch: original, xid: 5 })).toBe(false);
});
