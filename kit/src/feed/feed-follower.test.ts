import { expect, onTestFinished, test } from "vitest";
import { createFeedFollower } from "./feed-follower.ts";
import { startFeedListener } from "./feed-listener.ts";
import { parseSnapshot } from "./snapshot.ts";

test("a wait for a write of another epoch ends at once, although the feed is up", async () => {
  const epoch = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
  const listener = await startFeedListener({
    ...{ host: "127.0.0.1", port: 0, keys: ["a key for tests only"] },
    feed: {
      subscribe(subscriber) {
        const position = { epoch, snapshot: parseSnapshot("5:5:") };
        const timer = setInterval(() => subscriber.send({ kind: "reset", position }), 100);
        return () => clearInterval(timer);
      },
      onCommit() {},
      close: () => Promise.resolve(),
    },
  });
  onTestFinished(() => listener.close());
  const options = { urls: [listener.url], key: "a key for tests only" };
  const follower = createFeedFollower({ ...options, onChanges() {}, onReset() {}, onState() {} });
  onTestFinished(() => follower.close());
  await expect.poll(() => follower.isUp()).toBe(true);
  const moreThanTheTestMs = 600_000;
  for (const other of [undefined, epoch.replace("0", "f")]) {
    expect(await follower.waitFor({ epoch: other, xid: 1 }, moreThanTheTestMs)).toBe(false);
  }
  expect(follower.isUp()).toBe(true);
});
