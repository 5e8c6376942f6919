// Stage 4 of 5: run. The entity cache of one subgraph. entity-cache.ts creates one per subgraph; ../fetch/cached-fetch.ts reads through it.
import type { TtlSet } from "@tributary/kit/collections/ttl-set";
import type { Feeds } from "@tributary/kit/consistency/feeds";
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import type { WritePosition } from "@tributary/kit/feed/position";
import type { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
import type { EntityLookup, GatewayObserver } from "../../observations.ts";
import type { EntityStore, StoredResult } from "./entity-store.ts";
import type { EntityFill, ServiceFreshness } from "./freshness.ts";
import { groupsMax } from "./response-caching.ts";
import { type ComposedResult, createWholeResults, type WholeResults } from "./whole-results.ts";

/** One result of a response, with what the subgraph declares about caching it. */
interface Storable extends Pick<StoredResult, "key" | "data" | "groups" | "needsFeed"> {
  /** How long it is fresh, at least 1. */
  readonly seconds: number;
}

/** A result in the cache that may be used now. */
export interface CacheHit {
  readonly stored: StoredResult;
  /** How long it remains fresh, in whole seconds; 0 for less than one second. */
  readonly seconds: number;
}

const markMs = 10_000;
/** A whole result reads its parts from the store at most this often, so that the store does not evict them as unused. */
const usedEveryMs = 1_000;

/** What the caches of all subgraphs share. */
export interface CacheParts {
  readonly store: EntityStore;
  readonly log: InvalidationLog;
  /** Removes the results of a service; those in flight will not be stored. */
  readonly invalidate: (service: string) => void;
  readonly feeds: Feeds;
  readonly shortTexts: (text: string) => string;
  readonly marks: TtlSet;
  /** Estimated memory of the whole results of one subgraph. */
  readonly wholesBytesMax: number;
  readonly requestTimeoutMs: number;
  readonly nowMs: () => number;
  readonly observe: GatewayObserver;
}

/** `settledWrites` counts the mutations of this process to the subgraph that have settled. */
export class SubgraphCache {
  /** In the supergraph, in receipts and in observations. */
  readonly #subgraph: string;
  /** In the configuration, by which the feeds, the store and the log know the subgraph. */
  readonly #service: string;
  readonly #freshness: ServiceFreshness;
  readonly #parts: CacheParts;
  readonly #wholes: WholeResults;

  constructor(subgraph: string, service: string, freshness: ServiceFreshness, parts: CacheParts) {
    this.#subgraph = subgraph;
    this.#service = service;
    this.#freshness = freshness;
    this.#parts = parts;
    this.#wholes = createWholeResults(parts.wholesBytesMax);
  }

  get feedChanges(): number {
    return this.#freshness.feedChanges;
  }

  /** The estimated memory of the whole results. */
  get wholesBytes(): number {
    return this.#wholes.size().weight;
  }

  /** A short text that replaces a request's text in keys. An evicted text gets another one later, so its older keys are no longer found. */
  toShortText(text: string): string {
    return this.#parts.shortTexts(`${this.#subgraph}\n${text}`);
  }

  find(key: string, settledWrites: number): CacheHit | undefined {
    const stored = this.#parts.store.find(key);
    if (!stored) return undefined;
    const seconds = this.#freshness.secondsLeft(stored, settledWrites);
    return seconds === undefined ? undefined : { stored, seconds };
  }

  /** The result of a whole request that was composed of results that may all be used now; counts them as read. */
  findWhole(body: string, settledWrites: number): ComposedResult | undefined {
    const { store, nowMs } = this.#parts;
    const now = nowMs();
    const whole = this.#wholes.find(body, now);
    if (!whole || !this.#freshness.areCurrent(whole.parts, settledWrites)) return undefined;
    if (now - whole.usedAtMs > usedEveryMs) {
      whole.usedAtMs = now;
      for (const { key } of whole.parts) store.find(key);
    }
    this.count({ hit: whole.parts.length, miss: 0, bypass: 0 });
    return whole.result;
  }

  /** Stores the result of a whole request that is composed of these results. */
  putWhole(body: string, result: ComposedResult, hits: Iterable<CacheHit>): void {
    // While the feed is down, `findWhole` returns nothing.
    if (this.#parts.feeds.isUp(this.#service) === false) return;
    this.#wholes.put(
      body,
      result,
      Array.from(hits, ({ stored }) => stored),
    );
  }

  /** Call it when the request is sent. */
  startFill(settledWrites: number): EntityFill {
    return this.#freshness.startFill(settledWrites);
  }

  /** Stores a result unless it may be older than a known change, has too many groups, or needs a feed that the subgraph does not have. */
  put(fill: EntityFill, { seconds, ...result }: Storable): void {
    const { store, marks, log } = this.#parts;
    if (result.needsFeed && !this.#freshness.hasFeed) return;
    if (result.groups.length > groupsMax || log.isOutdated(fill, result.groups)) return;
    const { origin, sentAtMs, settledWrites } = fill;
    store.put({ ...result, origin, freshMs: 1_000 * seconds, sentAtMs, settledWrites });
    marks.delete(result.key);
  }

  /** Notes that the result depends on the caller or cannot be shared. For 10 s, it is fetched with the caller's credentials (if any) at once. */
  mark(key: string): void {
    this.#parts.marks.add(key, markMs);
  }

  isMarked(key: string): boolean {
    return this.#parts.marks.has(key);
  }

  /** Reports how many results a request reads from the cache, fetches without credentials, and fetches with credentials because they are marked. */
  count(results: Readonly<Record<EntityLookup, number>>): void {
    this.#parts.observe({ kind: "entity-cache-read", service: this.#subgraph, results });
  }

  /** Reports that a request is repeated with credentials. */
  countRepeat(): void {
    this.#parts.observe({ kind: "entity-cache-repeat", service: this.#subgraph });
  }

  noteWrite(position: WritePosition): void {
    if (!this.#freshness.noteWrite(position)) this.#parts.invalidate(this.#service);
  }

  /** The writes to this subgraph whose changes the feed has not delivered yet: those of the receipts, and those of this process. */
  listUnknown(receipts: readonly ServiceWrite[]): readonly ServiceWrite[] {
    return this.#freshness.listUnknown(receipts.filter(({ service }) => service === this.#subgraph));
  }

  /** Waits at most 50 ms until the feed has delivered the changes of these writes. @returns whether it has. */
  waitFor(writes: readonly ServiceWrite[]): Promise<boolean> {
    return this.#parts.feeds.waitFor(writes, this.#parts.requestTimeoutMs);
  }
}
