// Follows the change feed of one service: keeps one stream (feed-stream.ts) open and resumes it at another replica. Used by
// kit/src/consistency/feeds.ts for the gateway and the REST proxy, and by infra/purger.
import { setTimeout as sleep } from "node:timers/promises";
import { createAddressBook, type ReplicaAddress, type ResolveHost } from "../upstream/addresses.ts";
import type { FeedEvent } from "./change-feed.ts";
import { readFeedStream, silenceMsMax } from "./feed-stream.ts";
import { type FeedPosition, includesWrite, type WritePosition } from "./position.ts";

export interface FeedFollowerOptions {
  /** Scheme, host and port of the feed of each replica, or of a name with several addresses. */
  readonly urls: readonly string[];
  readonly key: string;
  /** Called with the cache groups of each event that has any, before `knows` is true for the writes of the event. */
  onChanges(groups: readonly string[]): void;
  /** Every response of the service may be outdated. */
  onReset(): void;
  /** Called when the state changes, first after the first event or failed attempt; not by `close`. @param cause why the feed is down. */
  onState(state: "up" | "down", cause?: unknown): void;
  readonly resolveHost?: ResolveHost;
}

/** Follows the feed of one service: one stream, to one replica at a time. */
export interface FeedFollower {
  /** Whether an event arrived in the last second, so that all older changes are known. */
  isUp(): boolean;
  /** Whether the write's changes have been passed to `onChanges` or `onReset`. */
  knows(write: WritePosition): boolean;
  /**
   * Waits until `knows(write)`, at most `timeoutMs`, and resolves with the result of `knows`. Does not wait while the feed is down, or for a write of
   * another epoch.
   */
  waitFor(write: WritePosition, timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** The maximum of the random pause between two attempts. Random, so that the processes that follow a feed do not all connect at once. */
const retryMsMax = 500;
/** The maximum number of waiting requests per feed; for further requests `waitFor` does not wait. */
const waitersMax = 1_024;

export function createFeedFollower(o: FeedFollowerOptions): FeedFollower {
  return new StreamFollower(o);
}

class StreamFollower implements FeedFollower {
  readonly #o: FeedFollowerOptions;
  readonly #closing = new AbortController();
  /** Called after each event, and when the feed goes down. */
  readonly #waiters = new Set<() => void>();
  readonly #following: Promise<void>;
  #position: FeedPosition | undefined;
  #isFollowing = false;
  #reported: "up" | "down" | undefined;
  #lastEventAtMs = -Infinity;

  constructor(o: FeedFollowerOptions) {
    this.#o = o;
    this.#following = this.#follow();
  }

  isUp(): boolean {
    return this.#isFollowing && performance.now() - this.#lastEventAtMs < silenceMsMax;
  }

  knows(write: WritePosition): boolean {
    return includesWrite(this.#position, write);
  }

  async waitFor(write: WritePosition, timeoutMs: number): Promise<boolean> {
    const isExpected = this.isUp() && write.epoch === this.#position?.epoch;
    if (this.knows(write) || !isExpected || this.#waiters.size >= waitersMax) return this.knows(write);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    const wake = () => {
      if (this.knows(write) || !this.#isFollowing) resolve();
    };
    this.#waiters.add(wake);
    await promise;
    clearTimeout(timer);
    this.#waiters.delete(wake);
    return this.knows(write);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("The process stops."));
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    let replicas: readonly ReplicaAddress[] = [];
    const book = createAddressBook({
      urls: this.#o.urls,
      resolveHost: this.#o.resolveHost,
      nowMs: () => performance.now(),
      onResolved: (resolved) => void (replicas = resolved),
      onLookupFailed: () => {},
    });
    // Starts at a random replica, so that the gateways and REST proxies are spread over the replicas of the service.
    for (let attempt = Math.floor(Math.random() * 1_000); !signal.aborted; attempt++) {
      await book.refresh();
      const replica = replicas[attempt % Math.max(1, replicas.length)];
      try {
        if (!replica) throw new Error("No replica of the feed is known.");
        const onEvent = (event: FeedEvent) => this.#apply(event);
        // Throws when the stream ends, whatever the reason.
        await readFeedStream({ replica, key: this.#o.key, since: this.#position, signal, onEvent });
      } catch (cause) {
        this.#lose(cause);
        book.refreshSoon();
      }
      await sleep(Math.random() * retryMsMax, undefined, { signal }).catch(() => {});
    }
  }

  #apply(event: FeedEvent): void {
    if (event.kind === "reset") this.#o.onReset();
    else if (event.groups.length > 0) this.#o.onChanges(event.groups);
    this.#position = event.position;
    this.#lastEventAtMs = performance.now();
    this.#isFollowing = true;
    this.#report("up");
    for (const wake of this.#waiters) wake();
  }

  #lose(cause: unknown): void {
    this.#isFollowing = false;
    this.#report("down", cause);
    for (const wake of this.#waiters) wake();
  }

  #report(state: "up" | "down", cause?: unknown): void {
    if (state === this.#reported || this.#closing.signal.aborted) return;
    this.#reported = state;
    this.#o.onState(state, cause);
  }
}
