import { setTimeout as sleep } from "node:timers/promises";
import { createAddressBook, type ReplicaAddress, type ResolveHost } from "../upstream/addresses.ts";
import type { FeedEvent } from "./change-feed.ts";
import { readFeedStream, silenceMsMax } from "./feed-stream.ts";
import { type FeedPosition, includesWrite, type WritePosition } from "./position.ts";

export interface FeedFollowerOptions {
  readonly urls: readonly string[];
  readonly key: string;
  /** Called before `knows` is true for the writes of the event. */
  onChanges(groups: readonly string[], revoked: readonly string[]): void;
  /** Every response of the service may be outdated. @param revoked all subjects whose tokens are revoked. */
  onReset(revoked: readonly string[]): void;
  onState(state: "up" | "down", cause?: unknown): void;
  readonly resolveHost?: ResolveHost;
}

/** One stream, to one replica at a time, which is resumed at another one. */
export interface FeedFollower {
  /** An event arrived within `silenceMsMax`, so that all older changes are known. */
  isUp(): boolean;
  /** Of the last event. Undefined before the first one. */
  epoch(): string | undefined;
  knows(write: WritePosition): boolean;
  /** Resolves with the result of `knows`. Does not wait while the feed is down, or for a write of another epoch. */
  waitFor(write: WritePosition, timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

const retryMsMax = 500;
/** For further requests `waitFor` does not wait. */
const waitersMax = 1_024;
/** A failover begins another one. */
const formerEpochsMax = 10;
/** The first attempt selects a random replica. */
const firstAttemptMax = 1_000;

export function createFeedFollower(o: FeedFollowerOptions): FeedFollower {
  return new StreamFollower(o);
}

class StreamFollower implements FeedFollower {
  readonly #options: FeedFollowerOptions;
  readonly #closing = new AbortController();
  /** Each checks whether the wait of one request can end. */
  readonly #waiters = new Set<() => void>();
  readonly #following: Promise<void>;
  #position: FeedPosition | undefined;
  /** The last ones that ended while this process followed the feed. The reset of the next epoch includes all their writes. */
  readonly #formerEpochs = new Set<string>();
  #isFollowing = false;
  #reportedState: "up" | "down" | undefined;
  #lastEventAtMs = -Infinity;

  constructor(options: FeedFollowerOptions) {
    this.#options = options;
    this.#following = this.#follow();
  }

  isUp(): boolean {
    return this.#isFollowing && performance.now() - this.#lastEventAtMs < silenceMsMax;
  }

  epoch(): string | undefined {
    return this.#position?.epoch;
  }

  knows(write: WritePosition): boolean {
    return includesWrite(this.#position, write) || this.#formerEpochs.has(write.epoch ?? "");
  }

  async waitFor(write: WritePosition, timeoutMs: number): Promise<boolean> {
    if (this.knows(write)) return true;
    const isExpected = this.isUp() && write.epoch === this.#position?.epoch;
    const mayWait = isExpected && this.#waiters.size < waitersMax;
    if (!mayWait) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    const endWaitIfDecided = () => {
      if (this.knows(write) || !this.#isFollowing) resolve();
    };
    this.#waiters.add(endWaitIfDecided);
    await promise;
    clearTimeout(timer);
    this.#waiters.delete(endWaitIfDecided);
    return this.knows(write);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("The process stops."));
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    let replicas: readonly ReplicaAddress[] = [];
    const addressBook = createAddressBook({
      urls: this.#options.urls,
      resolveHost: this.#options.resolveHost,
      nowMs: () => performance.now(),
      onResolved(resolved) {
        replicas = resolved;
      },
      onLookupFailed: () => {},
    });
    for (let attempt = Math.floor(Math.random() * firstAttemptMax); !signal.aborted; attempt++) {
      await addressBook.refresh();
      const replica = replicas[attempt % Math.max(1, replicas.length)];
      try {
        if (!replica) throw new Error("No replica of the feed is known.");
        const onEvent = (event: FeedEvent) => this.#apply(event);
        // Throws when the stream ends, whatever the reason.
        await readFeedStream({ replica, key: this.#options.key, since: this.#position, signal, onEvent });
      } catch (cause) {
        this.#endStream(cause);
        addressBook.refreshSoon();
      }
      await sleep(Math.random() * retryMsMax, undefined, { signal }).catch(() => {});
    }
  }

  #apply(event: FeedEvent): void {
    const { revoked = [] } = event;
    if (event.kind === "reset") this.#options.onReset(revoked);
    else if (event.groups.length + revoked.length > 0) this.#options.onChanges(event.groups, revoked);
    const epoch = this.#position?.epoch;
    if (epoch !== undefined && epoch !== event.position.epoch) this.#beginEpoch(event.position.epoch, epoch);
    this.#position = event.position;
    this.#lastEventAtMs = performance.now();
    this.#isFollowing = true;
    this.#reportState("up");
    this.#notifyWaiters();
  }

  #beginEpoch(epoch: string, former: string): void {
    this.#formerEpochs.add(former);
    // A database that was renamed, and is renamed back, has the epoch that it had before, and new writes.
    this.#formerEpochs.delete(epoch);
    const [oldest = ""] = this.#formerEpochs;
    if (this.#formerEpochs.size > formerEpochsMax) this.#formerEpochs.delete(oldest);
  }

  #endStream(cause: unknown): void {
    this.#isFollowing = false;
    this.#reportState("down", cause);
    this.#notifyWaiters();
  }

  #notifyWaiters(): void {
    for (const endWaitIfDecided of this.#waiters) endWaitIfDecided();
  }

  #reportState(state: "up" | "down", cause?: unknown): void {
    if (state === this.#reportedState || this.#closing.signal.aborted) return;
    this.#reportedState = state;
    this.#options.onState(state, cause);
  }
}
