// Stage 4 of 5: run. When results of one service may be stored and used: by their age, the change feed, this process's writes, and the order of
// changes.
import type { Feeds } from "@tributary/kit/consistency/feeds";
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import type { WritePosition } from "@tributary/kit/feed/position";
import type { Fill, InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";

export interface EntityFill extends Fill {
  /** By the process's monotonic clock. */
  readonly sentAtMs: number;
  readonly settledWrites: number;
}

export interface Lifetime extends Pick<EntityFill, "sentAtMs" | "settledWrites"> {
  /** After `sentAtMs`, or after the service's feed has last confirmed it. */
  readonly freshMs: number;
  /** After `freshMs`, while the service fails. */
  readonly staleIfErrorMs: number;
  /** Whether it is fresh for `freshMs` only while the service's feed is up. */
  readonly needsFeed: boolean;
}

export interface FreshnessOptions {
  /** By its name in the configuration. */
  readonly service: string;
  readonly feeds: Feeds;
  readonly log: InvalidationLog;
  readonly nowMs: () => number;
}

const feedDownMsMax = 2_000;
/** At least so long a feed confirms a result. Then it is fetched again, so a change that was never published is seen too. */
const confirmedMsMin = 60_000;
/** Until the feed has delivered their changes, mostly for some milliseconds. */
const ownWritesMax = 1_000;

export function confirmedMsOf({ needsFeed, freshMs }: Pick<Lifetime, "needsFeed" | "freshMs">): number {
  return needsFeed ? Math.max(confirmedMsMin, freshMs) : freshMs;
}

export class ServiceFreshness {
  feedChanges = 0;
  /** Undefined while the feed is up. */
  #downSinceMs: number | undefined;
  readonly #o: FreshnessOptions;
  #ownWrites: readonly ServiceWrite[] = [];

  constructor(options: FreshnessOptions) {
    this.#o = options;
  }

  get hasFeed(): boolean {
    return this.#isUp() !== undefined;
  }

  startFill(settledWrites: number): EntityFill {
    const { service, log, nowMs } = this.#o;
    return { origin: service, position: log.position, sentAtMs: nowMs(), settledWrites };
  }

  /** In whole seconds; undefined if the result must not be used now. */
  secondsLeft(result: Lifetime, settledWrites: number): number | undefined {
    const ageMs = this.#o.nowMs() - result.sentAtMs;
    const isUp = this.#isUp() === true;
    // A feed that is up confirms the stored results: it has removed the others.
    const isConfirmed = isUp && result.needsFeed;
    if (ageMs >= (isConfirmed ? confirmedMsOf(result) : result.freshMs)) return undefined;
    if (!isUp) {
      // While the feed is down, and without a feed, only the writes of this process are known.
      if (result.settledWrites !== settledWrites) return undefined;
      if (result.needsFeed && ageMs >= feedDownMsMax) return undefined;
    }
    return Math.floor((isConfirmed ? result.freshMs : result.freshMs - ageMs) / 1_000);
  }

  noteFeedState(state: "up" | "down"): void {
    this.#downSinceMs = state === "down" ? this.#o.nowMs() : undefined;
  }

  /** The same rule as the REST proxy's for `stale-if-error`. The age counts from when the service or its feed has last confirmed the result. */
  isUsableOnError(result: Lifetime, settledWrites: number): boolean {
    const { sentAtMs, freshMs, staleIfErrorMs, needsFeed } = result;
    if (this.#isUp() !== true && result.settledWrites !== settledWrites) return false;
    const atMs = this.#o.nowMs();
    const lastUpMs = needsFeed ? Math.min(this.#downSinceMs ?? atMs, sentAtMs + confirmedMsMin) : sentAtMs;
    return atMs - Math.max(sentAtMs, lastUpMs) < freshMs + staleIfErrorMs;
  }

  /** Of results that have not expired. False while the feed is down: `secondsLeft` decides for each. */
  areCurrent(results: readonly Lifetime[], settledWrites: number): boolean {
    return this.#isUp() ?? results.every((result) => result.settledWrites === settledWrites);
  }

  /**
   * A client that has the write's response must not read anything older, even without a receipt.
   * @returns false if the write cannot be remembered: all results must then be invalidated.
   */
  noteWrite(position: WritePosition): boolean {
    // `settledWrites` excludes the results from before the write.
    if (!this.hasFeed) return true;
    const { service, feeds } = this.#o;
    const writes = [...this.#ownWritesUnknown(), { ...position, service }];
    // Of another epoch, the change may never be known.
    const isOfFeed = position.epoch !== undefined && position.epoch === feeds.epoch(service);
    const isRemembered = isOfFeed && writes.length <= ownWritesMax;
    this.#ownWrites = isRemembered ? writes : [];
    return isRemembered;
  }

  forgetWrites(): void {
    this.#ownWrites = [];
  }

  listUnknown(proven: readonly WritePosition[]): readonly ServiceWrite[] {
    const { service, feeds } = this.#o;
    // While the feed is down, `settledWrites` excludes the results from before the writes of this process.
    const ownUnknown = this.#isUp() === true ? this.#ownWritesUnknown() : [];
    if (proven.length === 0) return ownUnknown;
    const writes = proven.map((write) => ({ ...write, service }));
    return [...writes.filter((write) => !feeds.knows(write)), ...ownUnknown];
  }

  #ownWritesUnknown(): readonly ServiceWrite[] {
    const { feeds } = this.#o;
    if (this.#ownWrites.length > 0) this.#ownWrites = this.#ownWrites.filter((write) => !feeds.knows(write));
    return this.#ownWrites;
  }

  #isUp(): boolean | undefined {
    return this.#o.feeds.isUp(this.#o.service);
  }
}
