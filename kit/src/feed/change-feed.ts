import { setTimeout as sleep } from "node:timers/promises";
import { type FeedPosition, writeFeedPosition } from "./position.ts";
import type { Outbox, OutboxBatch, RecordedChange } from "./outbox.ts";

/** `changes`: includes all changes up to the position. `reset`: every response from before the position may be outdated. */
export type FeedEvent = ChangesEvent | ResetEvent;

interface ChangesEvent {
  readonly kind: "changes";
  readonly position: FeedPosition;
  readonly groups: readonly string[];
  readonly revoked?: readonly string[] | undefined;
}

interface ResetEvent {
  readonly kind: "reset";
  readonly position: FeedPosition;
  /** All subjects whose tokens are revoked. Absent if the service revokes none. */
  readonly revoked?: readonly string[] | undefined;
}

/** Whose tokens a service has revoked. Subjects are users, by the id in their tokens. */
export interface RevocationSource {
  /** Undefined for a change that ends a revocation: it is sent as a `reset`, with all that remain. Also if it throws. */
  ofChange(change: RecordedChange): readonly string[] | undefined;
  /** The last `limit` subjects, the oldest first: for subscribers that may have missed changes. */
  list(limit: number): Promise<readonly string[]>;
}

export interface FeedSubscriber {
  /** Also without changes: the position proves that the feed is up. A change may be sent twice. */
  send(event: FeedEvent): void;
  /** This replica cannot reach the database (another one may), or the feed is closed. No event follows. */
  end(): void;
}

export interface ChangeFeed {
  /** The first event is a `reset` without `since`, or if changes since then cannot be listed. */
  subscribe(subscriber: FeedSubscriber, since: FeedPosition | undefined): () => void;
  /** Call it after each commit of this process, also without subscribers: all replicas then read within `readIntervalMsMin`. */
  onCommit(): void;
  close(): Promise<void>;
}

export interface ChangeFeedOptions {
  openOutbox(on: { onNotified(): void; onLost(error: Error): void }): Promise<Outbox>;
  /** Undefined for a kind that only a newer release knows: then every response of the service may be outdated. */
  groupsOf(change: RecordedChange): readonly string[] | undefined;
  readonly revocations?: RevocationSource | undefined;
  /** @param changes an estimate of the remaining ones, which increase while a transaction stays open. */
  onTrimmed?(changes: number): void;
  /** More changes than a batch may have are sent as a reset to these readers. */
  onFlood?(readers: number): void;
  /** The database is not reachable, or `groupsOf` or `revocations.ofChange` has thrown. */
  onError(error: unknown): void;
}

/** A lost notification delays a change by at most this time. */
const pollMs = 250;
/** Between two reads, and between two notifications. */
const readIntervalMsMin = 10;
/** A batch with more groups is sent as a `reset`. */
const groupsMax = 1_000;
/** What a service lists, and what a process remembers of each service. */
export const revokedSubjectsMax = 10_000;
const reopenMs = 500;
const trimIntervalMs = 30_000;
const idleWaitMs = 60_000;

export function createChangeFeed(o: ChangeFeedOptions): ChangeFeed {
  return new OutboxFeed(o);
}

class OutboxFeed implements ChangeFeed {
  readonly #options: ChangeFeedOptions;
  /** Rings for all that may require a read or a notification before the next poll. */
  readonly #alarm = createAlarm();
  /** They wait for their first event, with the position from which they resume. */
  readonly #starting = new Map<FeedSubscriber, FeedPosition | undefined>();
  readonly #started = new Set<FeedSubscriber>();
  readonly #running: Promise<void>;
  /** Since the last notification of the other replicas. */
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
      // A lost notification is not repeated: the other replicas read within `pollMs`.
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
      // Before the read: a `ring` during it then ends the wait below.
      this.#alarm.reset();
      if (this.#hasCommitted) {
        this.#hasCommitted = false;
        await outbox.notify();
      }
      // Without subscribers nothing is read: a new one resumes at its own position.
      position = this.#hasSubscribers ? await this.#sendChanges(outbox, position) : undefined;
      const isTrimDue = startedAtMs - trimmedAtMs >= trimIntervalMs;
      if (isTrimDue) {
        const hasMore = await outbox.trim();
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

  async #sendChanges(outbox: Outbox, since: FeedPosition | undefined): Promise<FeedPosition> {
    const batch = await outbox.read(since);
    const event = await this.#toEvent(batch, this.#started.size);
    for (const subscriber of this.#started) subscriber.send(event);
    await this.#startSubscribers(outbox);
    return batch.position;
  }

  /** One read for all that resume at the same position, such as all readers of a replica that has stopped. */
  async #startSubscribers(outbox: Outbox): Promise<void> {
    const startedAtMs = performance.now();
    for (const since of this.#starting.values()) {
      const batch = await outbox.read(since);
      const event =
        since === undefined
          ? await this.#createReset(batch.position)
          : await this.#toEvent(batch, this.#listStarting(since).length);
      // Listed after the read: some have left during it, and others have come.
      for (const subscriber of this.#listStarting(since)) {
        this.#starting.delete(subscriber);
        this.#started.add(subscriber);
        subscriber.send(event);
      }
      const mustReadForStarted = performance.now() - startedAtMs > pollMs;
      if (mustReadForStarted) return this.#alarm.ring();
    }
  }

  #listStarting(since: FeedPosition | undefined): readonly FeedSubscriber[] {
    const key = since && writeFeedPosition(since);
    const isSame = (other: FeedPosition | undefined) => (other && writeFeedPosition(other)) === key;
    return [...this.#starting].filter(([, other]) => isSame(other)).map(([subscriber]) => subscriber);
  }

  async #toEvent({ position, changes }: OutboxBatch, readers: number): Promise<FeedEvent> {
    const effects = typeof changes === "string" ? changes : this.#effectsOf(changes);
    if (effects === "flood" && readers > 0) this.#options.onFlood?.(readers);
    if (typeof effects === "string") return this.#createReset(position);
    return { kind: "changes", position, ...effects };
  }

  /** After the read of the position: the list then includes all revocations up to it. */
  async #createReset(position: FeedPosition): Promise<ResetEvent> {
    return { kind: "reset", position, revoked: await this.#options.revocations?.list(revokedSubjectsMax) };
  }

  /** `gap` if any response may be outdated. A failed change must not end the streams: they would read it again. */
  #effectsOf(changes: readonly RecordedChange[]): Pick<ChangesEvent, "groups" | "revoked"> | "gap" | "flood" {
    const { groupsOf, revocations, onError } = this.#options;
    const groups = new Set<string>();
    const revoked: string[] = [];
    try {
      for (const change of changes) {
        // Recorded by publish_everything().
        const changedGroups = change.kind === "everything" ? undefined : groupsOf(change);
        if (changedGroups === undefined) return "gap";
        for (const group of changedGroups) groups.add(group);
        const subjects = revocations ? revocations.ofChange(change) : [];
        if (subjects === undefined) return "gap";
        revoked.push(...subjects);
      }
    } catch (error) {
      onError(error);
      return "gap";
    }
    if (groups.size > groupsMax) return "flood";
    return { groups: [...groups], revoked: revoked.length === 0 ? undefined : revoked };
  }

  #endAll(): void {
    const subscribers = [...this.#starting.keys(), ...this.#started];
    this.#starting.clear();
    this.#started.clear();
    for (const subscriber of subscribers) subscriber.end();
  }
}

/** If no wait is in progress, `ring` ends the next one, unless `reset` is called first. */
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
