import { fileURLToPath } from "node:url";
import pg from "pg";
import type { ChangeFeed, FeedEvent, FeedSubscriber } from "../feed/change-feed.ts";
import { openOutbox, type Outbox, type OutboxOptions } from "../feed/outbox.ts";
import type { FeedPosition } from "../feed/position.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";

/** The migrations of a service with the table `things` (id, amount, name), which records no changes. */
export const thingMigrations = fileURLToPath(new URL("../../test/migrations", import.meta.url));

/** A database whose table `things` records the kind `thing`, with the columns `id` and `name`. */
export async function createRecordedDatabase(postgresUrl: string): Promise<TestDatabase> {
  const created = await createTestDatabase(postgresUrl, thingMigrations);
  await created.database.rows("record", "select record_changes_of('things', 'thing', 'id', 'name')");
  return created;
}

export async function openTestOutbox(databaseUrl: string, options: Partial<OutboxOptions> = {}): Promise<Outbox> {
  return openOutbox({ databaseUrl, applicationName: "test-feed", onNotified() {}, onLost() {}, ...options });
}

/** A change is deleted by the second trim after its commit, unless an older transaction is open. */
export async function makeTrimDue({ database }: TestDatabase): Promise<void> {
  await database.rows("due", "update feed_trim set due = now()");
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

interface FeedCollector extends FeedSubscriber {
  readonly events: FeedEvent[];
  readonly groups: () => readonly string[];
  readonly isEnded: () => boolean;
}

export function createCollector(): FeedCollector {
  const events: FeedEvent[] = [];
  let isEnded = false;
  return {
    events,
    send: (event) => void events.push(event),
    end() {
      isEnded = true;
    },
    groups: () => events.flatMap((event) => (event.kind === "changes" ? event.groups : [])),
    isEnded: () => isEnded,
  };
}

interface ManualFeed extends ChangeFeed {
  readonly subscribers: ReadonlySet<FeedSubscriber>;
  /** The position that each subscriber resumed from; undefined for a subscriber that started without one. */
  readonly resumed: readonly (FeedPosition | undefined)[];
  send(event: FeedEvent): void;
  /** Sends the last position again, as a feed without changes does. */
  repeat(): void;
}

/** A feed whose events the test sends. */
export function createManualFeed(): ManualFeed {
  const subscribers = new Set<FeedSubscriber>();
  const resumed: (FeedPosition | undefined)[] = [];
  let lastPosition: FeedPosition | undefined;
  const send = (event: FeedEvent) => {
    lastPosition = event.position;
    for (const subscriber of subscribers) subscriber.send(event);
  };
  return {
    subscribers,
    resumed,
    subscribe(subscriber, since) {
      subscribers.add(subscriber);
      resumed.push(since);
      return () => void subscribers.delete(subscriber);
    },
    onCommit() {},
    close: async () => {},
    send,
    repeat() {
      if (lastPosition) send({ kind: "changes", position: lastPosition, groups: [] });
    },
  };
}
