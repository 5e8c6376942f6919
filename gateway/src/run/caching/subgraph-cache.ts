// Stage 4 of 5: run. The entity cache of one subgraph, with the rules for when a stored result may be used. entity-cache.ts creates one per subgraph;
// ../cached-fetch.ts reads through it.
import type { BoundedMap } from "@tributary/kit/collections/bounded-map";
import type { NoteLog } from "@tributary/kit/collections/note-log";
import type { Feeds } from "@tributary/kit/consistency/feeds";
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import type { WritePosition } from "@tributary/kit/feed/position";
import type { EntityLookup, GatewayObserver } from "../../observations.ts";
import { confirmedMsOf, type EntityStore, nameGroup, type StoredResult } from "./entity-store.ts";
import { groupsMax } from "./response-caching.ts";
import { type ComposedResult, createWholeResults, type WholeResult, type WholeResults } from "./whole-results.ts";

/** When a request was sent whose results may be stored. `put` rejects a result if one of its groups changed after this `position` of the note log. */
export interface Fill {
  readonly position: number;
  readonly sentAtMs: number;
  readonly settledWrites: number;
}

/** One result of a response, with what the subgraph declares about caching it. */
interface Storable extends Pick<StoredResult, "key" | "data" | "groups" | "needsFeed"> {
  /** How long it is fresh, at least 1. */
  readonly seconds: number;
}

/** A result in the cache that may be used now. */
export interface CacheHit extends Pick<StoredResult, "data" | "groups"> {
  readonly stored: StoredResult;
  /** How long it remains fresh, in whole seconds; 0 for less than one second. */
  readonly seconds: number;
}

/** The cache of one subgraph. */
export interface SubgraphCache {
  /** Increases with each change of the subgraph that becomes known. */
  readonly changesCount: number;
  /** A short text that replaces a request's text in keys. An evicted text gets another short text later, so its older keys are no longer found. */
  toShortText(text: string): string;
  /** Undefined if no result is stored, or if it must not be used now. @param settledWrites settled mutations of this process to the subgraph. */
  find(key: string, settledWrites: number): CacheHit | undefined;
  /** The result of a whole request that was composed of results that may all be used now; counts them as read. */
  findWhole(body: string, settledWrites: number): ComposedResult | undefined;
  /** Stores the result of a whole request that is composed of these results, which were all found. */
  putWhole(body: string, result: ComposedResult, hits: Iterable<CacheHit>): void;
  /** Call it when the request is sent. */
  startFill(settledWrites: number): Fill;
  /** Stores a result unless it may be older than a known change, has too many groups, or needs a feed that the subgraph does not have. */
  put(fill: Fill, storable: Storable): void;
  /** Notes that the result depends on the caller or cannot be shared. For 10 s, it is fetched with the caller's credentials (if any) at once. */
  mark(key: string): void;
  isMarked(key: string): boolean;
  /** Reports how many results a request reads from the cache, fetches without credentials, and fetches with credentials because they are marked. */
  count(results: Readonly<Record<EntityLookup, number>>): void;
  /** Reports that a request is repeated with credentials. */
  countRepeat(): void;
  /** Notes a write of this process: a client that has the write's response must not read anything older, even without a receipt. */
  noteWrite(position: WritePosition): void;
  /** The writes to this subgraph whose changes the feed has not delivered yet: those of the receipts, and those of this process. */
  listUnknown(receipts: readonly ServiceWrite[]): readonly ServiceWrite[];
  /** Waits at most 50 ms until the feed has delivered the changes of these writes. @returns whether it has. */
  waitFor(writes: readonly ServiceWrite[]): Promise<boolean>;
  /** The estimated memory of the whole results. */
  wholesBytes(): number;
}

const markMs = 10_000;
/** While the feed of a subgraph is down, its results are used for at most this long. */
const feedDownMsMax = 2_000;
/**
 * The most writes of this process to one subgraph that are remembered until the feed has delivered their changes, mostly for some milliseconds. With
 * more, all results of the subgraph are invalidated.
 */
const ownWritesMax = 1_000;
/** A whole result reads its parts from the store at most this often, so that the store does not evict them as unused. */
const usedEveryMs = 1_000;

/** What the caches of all subgraphs share. */
export interface CacheParts {
  readonly store: EntityStore;
  /** The invalidations of whole subgraphs, and of their groups (`nameGroup`), in their order. */
  readonly log: NoteLog;
  /** The writes of this process to each service whose changes may not be known yet. */
  readonly ownWrites: Map<string, readonly ServiceWrite[]>;
  /** Removes the results of a service; those in flight will not be stored. */
  readonly invalidate: (service: string) => void;
  /** `isUp` returns undefined for a service without a feed. */
  readonly feeds: Feeds;
  readonly shortTexts: (text: string) => string;
  /** Until when a key is marked. */
  readonly marks: BoundedMap<number>;
  /** Estimated memory of the whole results of one subgraph. */
  readonly wholesBytesMax: number;
  readonly changesCountOf: (name: string) => number;
  readonly requestTimeoutMs: number;
  readonly nowMs: () => number;
  readonly observe: GatewayObserver;
}

export class SubgraphCacheState implements SubgraphCache {
  /** The subgraph's name in the supergraph, in receipts and in observations. */
  readonly #subgraph: string;
  /** Its name in the configuration, by which the feeds, the store and the log know it. */
  readonly #name: string;
  readonly #parts: CacheParts;
  readonly #wholes: WholeResults;
  constructor(subgraph: string, name: string, parts: CacheParts) {
    this.#subgraph = subgraph;
    this.#name = name;
    this.#parts = parts;
    this.#wholes = createWholeResults(parts.wholesBytesMax);
  }

  wholesBytes(): number {
    return this.#wholes.size().weight;
  }

  get changesCount(): number {
    return this.#parts.changesCountOf(this.#name);
  }

  toShortText(text: string): string {
    return this.#parts.shortTexts(`${this.#subgraph}\n${text}`);
  }

  find(key: string, settledWrites: number): CacheHit | undefined {
    const { store, feeds, nowMs } = this.#parts;
    const result = store.find(key);
    if (!result) return undefined;
    const ageMs = nowMs() - result.sentAtMs;
    const isUp = feeds.isUp(this.#name) === true;
    // A feed that is up confirms the stored results: it has removed the others.
    const isConfirmed = isUp && result.needsFeed;
    const usableMs = isConfirmed ? confirmedMsOf(result) : result.freshMs;
    if (ageMs >= usableMs) return undefined;
    if (!isUp) {
      // While the feed is down, and without a feed, only the writes of this process are known.
      if (result.settledWrites !== settledWrites) return undefined;
      if (result.needsFeed && ageMs >= feedDownMsMax) return undefined;
    }
    const remainingMs = isConfirmed ? result.freshMs : result.freshMs - ageMs;
    return {
      stored: result,
      data: result.data,
      groups: result.groups,
      seconds: Math.floor(remainingMs / 1_000),
    };
  }

  findWhole(body: string, settledWrites: number): ComposedResult | undefined {
    const { store, nowMs } = this.#parts;
    const now = nowMs();
    const whole = this.#wholes.find(body, now);
    if (!whole || !this.#knowsChanges(whole, settledWrites)) return undefined;
    if (now - whole.usedAtMs > usedEveryMs) {
      whole.usedAtMs = now;
      for (const { key } of whole.parts) store.find(key);
    }
    this.count({ hit: whole.parts.length, miss: 0, bypass: 0 });
    return whole.result;
  }

  /** False while the feed is down: the caller then checks the parts one by one. Without a feed, only the writes of this process are known. */
  #knowsChanges({ parts }: WholeResult, settledWrites: number): boolean {
    const isUp = this.#parts.feeds.isUp(this.#name);
    if (isUp !== undefined) return isUp;
    return parts.every((part) => part.settledWrites === settledWrites);
  }

  putWhole(body: string, result: ComposedResult, hits: Iterable<CacheHit>): void {
    // While the feed is down, `findWhole` returns nothing.
    if (this.#parts.feeds.isUp(this.#name) === false) return;
    const parts = Array.from(hits, ({ stored }) => stored);
    this.#wholes.put(body, result, parts);
  }

  startFill(settledWrites: number): Fill {
    return { position: this.#parts.log.position, sentAtMs: this.#parts.nowMs(), settledWrites };
  }

  put(fill: Fill, { seconds, ...result }: Storable): void {
    const { store, marks, feeds } = this.#parts;
    const hasFeed = feeds.isUp(this.#name) !== undefined;
    if (result.needsFeed && !hasFeed) return;
    if (result.groups.length > groupsMax) return;
    if (this.#isOutdated(fill, result.groups)) return;
    store.put({
      ...result,
      service: this.#name,
      freshMs: 1_000 * seconds,
      sentAtMs: fill.sentAtMs,
      settledWrites: fill.settledWrites,
    });
    marks.delete(result.key);
  }

  mark(key: string): void {
    this.#parts.marks.set(key, this.#parts.nowMs() + markMs);
  }

  isMarked(key: string): boolean {
    const untilMs = this.#parts.marks.get(key);
    return untilMs !== undefined && this.#parts.nowMs() < untilMs;
  }

  count(results: Readonly<Record<EntityLookup, number>>): void {
    this.#parts.observe({ kind: "entity-cache-read", service: this.#subgraph, results });
  }

  countRepeat(): void {
    this.#parts.observe({ kind: "entity-cache-repeat", service: this.#subgraph });
  }

  noteWrite(position: WritePosition): void {
    // Without a feed, `find` excludes the results from before a write of this process by `settledWrites`.
    const { feeds, ownWrites, invalidate } = this.#parts;
    if (feeds.isUp(this.#name) === undefined) return;
    const writes = [...this.#listOwnUnknown(), { ...position, service: this.#name }];
    // Without an epoch, the change is never known.
    if (position.epoch === undefined || writes.length > ownWritesMax) {
      invalidate(this.#name);
      ownWrites.delete(this.#name);
    } else ownWrites.set(this.#name, writes);
  }

  #listOwnUnknown(): readonly ServiceWrite[] {
    const { feeds, ownWrites } = this.#parts;
    const writes = ownWrites.get(this.#name) ?? [];
    if (writes.length === 0) return writes;
    const unknown = writes.filter((write) => !feeds.knows(write));
    ownWrites.set(this.#name, unknown);
    return unknown;
  }

  listUnknown(receipts: readonly ServiceWrite[]): readonly ServiceWrite[] {
    const ownUnknown = this.#listOwnUnknown();
    if (receipts.length === 0) return ownUnknown;
    const ofSubgraph = receipts.filter(({ service }) => service === this.#subgraph);
    const proven = ofSubgraph.map((write) => ({ ...write, service: this.#name }));
    return [...proven.filter((write) => !this.#parts.feeds.knows(write)), ...ownUnknown];
  }

  waitFor(writes: readonly ServiceWrite[]): Promise<boolean> {
    return this.#parts.feeds.waitFor(writes, this.#parts.requestTimeoutMs);
  }

  #isOutdated({ position }: Fill, groups: readonly string[]): boolean {
    const { log } = this.#parts;
    if (log.isNotedAfter(position, this.#name)) return true;
    return groups.some((group) => log.isNotedAfter(position, nameGroup(this.#name, group)));
  }
}
