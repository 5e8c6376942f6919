import { afterEach, expect, test, vi } from "vitest";
import { startFeedListener } from "../feed/feed-listener.ts";
import { readFeedPosition } from "../feed/position.ts";
import { createFeeds } from "./feeds.ts";

const epoch = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
const feedKey = "a key for tests only";

afterEach(() => vi.restoreAllMocks());

test.each([
  ["50 ms", 10_000, 50],
  ["a tenth of the request's timeout, if that is shorter", 300, 30],
])("an unknown write is waited for at most %s", async (_, timeoutMs, expectedMs) => {
  const position = readFeedPosition(`${epoch}/5:5:`);
  if (!position) throw new Error("The position is valid.");
  const listener = await startFeedListener({
    ...{ host: "127.0.0.1", port: 0, keys: [feedKey] },
    feed: {
      subscribe(subscriber) {
        subscriber.send({ kind: "reset", position });
        return () => {};
      },
      onCommit: () => {},
      close: () => Promise.resolve(),
    },
  });
  const handlers = { onChanges: () => {}, onReset: () => {}, onState: () => {} };
  const feeds = createFeeds({ feedUrls: { things: [listener.url] }, feedKey, ...handlers });
  try {
    await expect.poll(() => feeds.isUp("things")).toBe(true);
    expect(await feeds.waitFor([{ service: "things", epoch, xid: 4 }], timeoutMs)).toBe(true);
    const timers = vi.spyOn(globalThis, "setTimeout");
    expect(await feeds.waitFor([{ service: "things", epoch, xid: 5 }], timeoutMs)).toBe(false);
    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(expectedMs);
    expect(await feeds.waitFor([{ service: "without-feed", epoch, xid: 4 }], timeoutMs)).toBe(false);
  } finally {
    await Promise.all([feeds.close(), listener.close()]);
  }
});
