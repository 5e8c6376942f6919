// The change feed of a service, created by service/service.ts: reads changes from the outbox (outbox.ts) and sends events to its subscribers, which
// are the streams of feed-listener.ts.
import { setTimeout as sleep } from "node:timers/promises";
import type { FeedPosition } from "./position.ts";
import type { Outbox, OutboxBatch, RecordedChange } from "./outbox.ts";

/**
 * `changes`: all changes up to the position were sent before or are in this event. `reset`: every response of the service from before the
 * position may be outdated.
 */
export type FeedEvent = ChangesEvent | ResetEvent;

interface ChangesEvent {
  readonly kind: "changes";
  readonly position: FeedPosition;
  readonly groups: readonly string[];
  /** The subjects whose tokens these changes revoked. Absent for none. */
  readonly revoked?: readonly string[] | undefined;
}

interface ResetEvent {
  readonly kind: "reset";
  readonly position: FeedPosition;
  /** All subjects whose tokens are revoked (`RevocationSource.list`). Absent if the service revokes none. */
  readonly revoked?: readonly string[] | undefined;
}

/** Whose tokens a service has revoked, for example since their accounts are closed. Subjects are users, by the id in their tokens. */
export interface RevocationSource {
  /** The subjects whose tokens this change revoked. May throw: the change is then sent as a `reset`. */
  ofChange(change: RecordedChange): readonly string[];
  /** The last `limit` subjects whose tokens were revoked, the oldest first: for subscribers that may have missed changes. */
  list(limit: number): Promise<readonly string[]>;
}

export interface FeedSubscriber {
  /** Called for each read of the outbox, also without changes: the position proves that the feed is up. A change may be sent twice. */
  send(event: FeedEvent): void;
  /** Called if this replica cannot reach the database (another replica may), and by `close`. No event follows. */
  end(): void;
}

/** The feed of a service: what the committed writes of all its replicas changed, as names of cache groups. */
export interface ChangeFeed {
  /**
   * The first event has all changes since the position `since`. It is a `reset` without `since`, or if changes since then cannot be listed.
   * @returns a function that ends the subscription.
   */
  subscribe(subscriber: FeedSubscriber, since: FeedPosition | undefined): () => void;
  /** Call it after each commit of this process, also without subscribers: all replicas then read the outbox within `readIntervalMsMin`. */
  onCommit(): void;
  /** Ends all subscriptions. Resolves when the connection to the database is closed. */
  close(): Promise<void>;
}

export interface ChangeFeedOptions {
  /** Opens the outbox. @param onNotified, onLost as in `OutboxOptions`. */
  openOutbox(on: { onNotified(): void; onLost(error: Error): void }): Promise<Outbox>;
  /**
   * The cache groups of the responses that a change can alter. Undefined for a kind that this release does not know, which a newer one may have
   * recorded: then every response of the service may be outdated.
   */
  groupsOf(change: RecordedChange): readonly string[] | undefined;
  /** Undefined if the service revokes no tokens. */
  readonly revocations?: RevocationSource | undefined;
  /**
   * Called when all old changes are deleted (`Outbox.trim`).
   * @param changes an estimate of the remaining changes, which increase while a transaction stays open.
   */
  onTrimmed?(changes: number): void;
  /** Called each time the database is not reachable, and when `groupsOf` or `revocations.ofChange` throws: then the change is sent as a `reset`. */
  onError(error: unknown): void;
}

/** The longest interval between two reads of the outbox while there are subscribers: a lost notification delays a change by at most this time. */
const pollMs = 250;
/** The shortest interval between two reads of the outbox, and between two notifications of the other replicas. */
const readIntervalMsMin = 10;
/** A batch with more groups is sent as a `reset`. */
const groupsMax = 1_000;
/** The maximum number of revoked subjects that a service lists, and that a process remembers of each service. */
export const revokedSubjectsMax = 10_000;
/** The pause after a lost connection. */
const reopenMs = 500;
/** Each replica tries to trim this often. */
const trimIntervalMs = 30_000;
/** The longest wait without a connection. A subscriber, a commit and `close` end it. */
const idleWaitMs = 60_000;

/** Reads the outbox only while there are subscribers. Connects to the database for the first subscriber or commit. */
export function createChangeFeed(o: ChangeFeedOptions): ChangeFeed {
  return new OutboxFeed(o);
}

class OutboxFeed implements ChangeFeed {
  readonly #options: ChangeFeedOptions;
  /** Rings for everything that may require a read or a notification before the next poll. */
  readonly #alarm = createAlarm();
  /** Subscribers that wait for their first event, with the position from which they resume. */
  readonly #starting = new Map<FeedSubscriber, FeedPosition | undefined>();
  readonly #started = new Set<FeedSubscriber>();
  /** Resolves when the feed is closed. */
  readonly #running: Promise<void>;
  /** Whether this process has committed since the last notification of the other replicas. */
  #hasCommitted = false;
  #isClosed = false;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  subscribe(subscriber: FeedSubscriber, since: FeedPosition | undefined): () => void {
    this.#starting.set(subscriber, since);
    this.#alarm.ring();
    return () => {
      this.#starting.delete(subscriber);
      this.#started.delete(subscriber);
    };
  }

  onCommit(): void {
    this.#hasCommitted = true;
    this.#alarm.ring();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#alarm.ring();
    await this.#running;
    this.#endAll();
  }

  get #hasSubscribers(): boolean {
    return this.#starting.size + this.#started.size > 0;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      this.#alarm.reset();
      if (this.#hasSubscribers || this.#hasCommitted) await this.#followOnce();
      else await this.#alarm.wait(idleWaitMs);
    }
  }

  /** Follows the outbox until the feed is closed or the database is lost. */
  async #followOnce(): Promise<void> {
    const connectionLost = new AbortController();
    const onLost = (error: Error) => {
      connectionLost.abort(error);
      this.#alarm.ring();
    };
    let outbox: Outbox | undefined;
    try {
      outbox = await this.#options.openOutbox({ onNotified: () => this.#alarm.ring(), onLost });
      await this.#follow(outbox, connectionLost.signal);
    } catch (error) {
      this.#options.onError(error);
      // The notification of the commit is not repeated: the other replicas read the outbox within `pollMs` without it.
      this.#hasCommitted = false;
      this.#endAll();
      await sleep(reopenMs);
    } finally {
      await outbox?.close().catch(() => {});
    }
  }

  async #follow(outbox: Outbox, connectionLost: AbortSignal): Promise<void> {
    let position: FeedPosition | undefined;
    let trimmedAtMs = -Infinity;
    while (!this.#isClosed) {
      connectionLost.throwIfAborted();
      const startedAtMs = performance.now();
      // Before the read: a `ring` during the read then ends the wait below.
      this.#alarm.reset();
      if (this.#hasCommitted) {
        this.#hasCommitted = false;
        await outbox.notify();
      }
      // Without subscribers nothing is read. A new subscriber resumes at its own position (`#startSubscribers`): then the first read, without a
      // position, only finds the present position, and its event has no receiver.
      position = this.#hasSubscribers ? await this.#sendChanges(outbox, position) : undefined;
      const isTrimDue = startedAtMs - trimmedAtMs >= trimIntervalMs;
      if (isTrimDue) {
        const hasMore = await outbox.trim();
        // With more to trim, the wait below ends at once, and the next iteration trims again.
        if (hasMore) this.#alarm.ring();
        else {
          trimmedAtMs = startedAtMs;
          this.#options.onTrimmed?.(await outbox.estimateChanges());
        }
      }
      await this.#alarm.wait(this.#hasSubscribers ? pollMs : trimIntervalMs);
      const elapsedMs = performance.now() - startedAtMs;
      const restMs = readIntervalMsMin - elapsedMs;
      if (restMs > 0) await sleep(restMs);
    }
  }

  /** Sends the changes since the position to all subscribers. @returns the new position. */
  async #sendChanges(outbox: Outbox, since: FeedPosition | undefined): Promise<FeedPosition> {
    const batch = await outbox.read(since);
    const event = await this.#toEvent(batch);
    for (const subscriber of this.#started) subscriber.send(event);
    await this.#startSubscribers(outbox);
    return batch.position;
  }

  async #startSubscribers(outbox: Outbox): Promise<void> {
    for (const [subscriber, since] of this.#starting) {
      const batch = await outbox.read(since);
      const event = since === undefined ? await this.#createReset(batch.position) : await this.#toEvent(batch);
      // False if the subscription ended during the read.
      const isSubscribed = this.#starting.delete(subscriber);
      if (!isSubscribed) continue;
      this.#started.add(subscriber);
      subscriber.send(event);
    }
  }

  async #toEvent({ position, changes }: OutboxBatch): Promise<FeedEvent> {
    const effects = changes === "gap" ? undefined : this.#effectsOf(changes);
    if (effects === undefined) return this.#createReset(position);
    return { kind: "changes", position, ...effects };
  }

  /** After the read of the position: the list then includes all revocations up to it. */
  async #createReset(position: FeedPosition): Promise<ResetEvent> {
    return { kind: "reset", position, revoked: await this.#options.revocations?.list(revokedSubjectsMax) };
  }

  /**
   * Undefined if any response may be outdated. A change for which the service throws must not end the streams: each stream would read it again when it
   * resumes, and end again.
   */
  #effectsOf(changes: readonly RecordedChange[]): Pick<ChangesEvent, "groups" | "revoked"> | undefined {
    const { groupsOf, revocations, onError } = this.#options;
    const groups = new Set<string>();
    const revoked: string[] = [];
    try {
      for (const change of changes) {
        // Recorded by the SQL function publish_everything().
        const changedGroups = change.kind === "everything" ? undefined : groupsOf(change);
        if (changedGroups === undefined) return undefined;
        for (const group of changedGroups) groups.add(group);
        if (revocations) revoked.push(...revocations.ofChange(change));
      }
    } catch (error) {
      onError(error);
      return undefined;
    }
    if (groups.size > groupsMax) return undefined;
    return { groups: [...groups], revoked: revoked.length === 0 ? undefined : revoked };
  }

  #endAll(): void {
    const subscribers = [...this.#starting.keys(), ...this.#started];
    this.#starting.clear();
    this.#started.clear();
    for (const subscriber of subscribers) subscriber.end();
  }
}

/** A wait that `ring` ends early. If no wait is in progress, `ring` ends the next wait, unless `reset` is called first. */
function createAlarm() {
  let isRinging = false;
  let stopWaiting = () => {};
  return {
    reset() {
      isRinging = false;
    },
    ring() {
      isRinging = true;
      stopWaiting();
    },
    /** @param ms the longest wait. */
    wait(ms: number): Promise<void> {
      if (isRinging) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
      return promise;
    },
  };
}
