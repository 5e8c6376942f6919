import { randomUUID } from "node:crypto";
import type { FeedSubscriber } from "../feed/change-feed.ts";
import { startFeedListener } from "../feed/feed-listener.ts";
import type { WritePosition } from "../feed/position.ts";
import { parseSnapshot } from "../feed/snapshot.ts";

/** The interval at which the feed sends its position without groups. */
const positionIntervalMs = 50;

export interface StubFeed {
  readonly url: string;
  /** The key that its clients send: the one of PROFILE=development. */
  readonly key: string;
  /** A new write. The feed does not include it yet. */
  write(): WritePosition;
  /** Sends the groups, with a position that includes all writes. */
  change(...groups: readonly string[]): void;
  /** Sends a reset, with a position that includes all writes. */
  reset(): void;
  goDown(): void;
  goUp(): void;
  close(): Promise<void>;
}

type UnpositionedEvent = { readonly kind: "changes"; readonly groups: readonly string[] } | { readonly kind: "reset" };

/** The number of the first write. */
const firstXid = 10;

/** A change feed without a database, for tests of its clients: the test sends the events. */
export async function startStubFeed(): Promise<StubFeed> {
  const key = "for-development-only";
  const epoch = randomUUID();
  const subscribers = new Set<FeedSubscriber>();
  let nextXid = firstXid;
  /** The position includes the writes with a lower number. */
  let includedBelowXid = firstXid;
  let isUp = true;
  const position = () => ({ epoch, snapshot: parseSnapshot(`${includedBelowXid}:${includedBelowXid}:`) });
  const send = (event: UnpositionedEvent) => {
    if (!isUp) return;
    for (const subscriber of subscribers) subscriber.send({ ...event, position: position() });
  };
  const listener = await startFeedListener({
    host: "127.0.0.1",
    port: 0,
    keys: [key],
    feed: {
      subscribe(subscriber, since) {
        subscribers.add(subscriber);
        if (isUp && !since) subscriber.send({ kind: "reset", position: position() });
        return () => void subscribers.delete(subscriber);
      },
      onCommit() {},
      close: () => Promise.resolve(),
    },
  });
  const timer = setInterval(() => send({ kind: "changes", groups: [] }), positionIntervalMs);
  return {
    url: listener.url,
    key,
    write: () => ({ epoch, xid: nextXid++ }),
    change(...groups) {
      includedBelowXid = nextXid;
      send({ kind: "changes", groups });
    },
    reset() {
      includedBelowXid = nextXid;
      send({ kind: "reset" });
    },
    goDown() {
      isUp = false;
      for (const subscriber of subscribers) subscriber.end();
    },
    goUp() {
      isUp = true;
    },
    close() {
      clearInterval(timer);
      return listener.close();
    },
  };
}
