// Stage 4 of 5: run. The entity cache of one subgraph.
import type { TtlSet } from "@tributary/kit/collections/ttl-set";
import type { Feeds } from "@tributary/kit/consistency/feeds";
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import type { WritePosition } from "@tributary/kit/feed/position";
import type { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
import type { EntityLookup, GatewayObserver } from "../../../observations.ts";
import type { SubgraphSettings } from "../../../subgraph-settings/subgraph-settings.ts";
import type { EntityStore, StoredResult } from "./entity-store.ts";
import type { EntityFill, ServiceFreshness } from "./freshness.ts";
import { groupsMax } from "./response-caching.ts";
import { type ComposedResult, createWholeResults, type WholeResults } from "./whole-results.ts";

interface Storable extends Pick<StoredResult, "key" | "data" | "groups" | "needsFeed"> {
  /** How long it is fresh, at least 1. */
  readonly seconds: number;
  readonly staleIfErrorSeconds: number;
}

export interface CacheHit {
  readonly stored: StoredResult;
  /** In whole seconds; 0 for less than one. Undefined for a stale result, which other caches must not store. */
  readonly seconds: number | undefined;
}

const markMs = 10_000;
/** So that the store does not evict its parts as unused. */
const usedEveryMs = 1_000;

export interface CacheParts {
  readonly store: EntityStore;
  readonly log: InvalidationLog;
  /** Those in flight will not be stored. */
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

/**
 * `settledWrites` counts the mutations of this process to the subgraph. It is compared without a feed and while the feed is down. A feed that is up has
 * removed what a write changed, and reads wait until it has reported the writes of this process.
 */
export class SubgraphCache {
  /** In the supergraph, in receipts and in observations. */
  readonly #subgraph: string;
  /** In the configuration, in the feeds and in the store. */
  readonly #service: string;
  readonly #freshness: ServiceFreshness;
  readonly #parts: CacheParts;
  readonly #wholes: WholeResults;
  /** Of the settings with which the stored results were fetched. */
  #fingerprint: string | undefined;

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

  get wholesBytes(): number {
    return this.#wholes.size().weight;
  }

  /** Replaces a request's text in keys. An evicted text gets another one later, so its older keys are no longer found. */
  toShortText(text: string): string {
    return this.#parts.shortTexts(`${this.#subgraph}\n${text}`);
  }

  find(key: string, settledWrites: number): CacheHit | undefined {
    const stored = this.#parts.store.find(key);
    if (!stored) return undefined;
    const seconds = this.#freshness.secondsLeft(stored, settledWrites);
    return seconds === undefined ? undefined : { stored, seconds };
  }

  /** For a read that has failed. */
  findStale(key: string, settledWrites: number): CacheHit | undefined {
    const stored = this.#parts.store.find(key);
    if (!stored || !this.#freshness.isUsableOnError(stored, settledWrites)) return undefined;
    return { stored, seconds: undefined };
  }

  /** Counts its parts as read. */
  findWhole(body: string, settledWrites: number): ComposedResult | undefined {
    const { store, nowMs } = this.#parts;
    const now = nowMs();
    const whole = this.#wholes.find(body, now);
    if (!whole || !this.#freshness.areCurrent(whole.parts, settledWrites)) return undefined;
    if (now - whole.usedAtMs > usedEveryMs) {
      whole.usedAtMs = now;
      for (const { key } of whole.parts) store.find(key);
    }
    this.count({ hit: whole.parts.length });
    return whole.result;
  }

  putWhole(body: string, result: ComposedResult, hits: Iterable<CacheHit>): void {
    // While the feed is down, `findWhole` returns nothing.
    if (this.#parts.feeds.isUp(this.#service) === false) return;
    this.#wholes.put(
      body,
      result,
      Array.from(hits, ({ stored }) => stored),
      this.#parts.nowMs(),
    );
  }

  /** With other settings, what is stored may be of another server or tenant. */
  follow({ fingerprint }: Pick<SubgraphSettings, "fingerprint">): void {
    if (this.#fingerprint === fingerprint) return;
    if (this.#fingerprint !== undefined) this.#parts.invalidate(this.#service);
    this.#fingerprint = fingerprint;
  }

  /** False for a request that has arrived before the settings, or the supergraph, changed. */
  isOf({ fingerprint }: Pick<SubgraphSettings, "fingerprint">): boolean {
    return this.#fingerprint === undefined || this.#fingerprint === fingerprint;
  }

  forgetWholes(): void {
    this.#wholes.clear();
  }

  startFill(settledWrites: number): EntityFill {
    return this.#freshness.startFill(settledWrites);
  }

  /** Unless the result may be older than a known change, has too many groups, or needs a feed that the subgraph does not have. */
  put(fill: EntityFill, { seconds, staleIfErrorSeconds, ...result }: Storable): void {
    const { store, marks, log } = this.#parts;
    if (result.needsFeed && !this.#freshness.hasFeed) return;
    if (result.groups.length > groupsMax || log.isOutdated(fill, result.groups)) return;
    const { origin, sentAtMs, settledWrites } = fill;
    const [freshMs, staleIfErrorMs] = [1_000 * seconds, 1_000 * staleIfErrorSeconds];
    store.put({ ...result, origin, freshMs, staleIfErrorMs, sentAtMs, settledWrites });
    marks.delete(result.key);
  }

  /** The result depends on the caller: for 10 s it is fetched with the caller's credentials at once. */
  mark(key: string): void {
    this.#parts.marks.add(key, markMs);
  }

  isMarked(key: string): boolean {
    return this.#parts.marks.has(key);
  }

  count(results: Readonly<Partial<Record<EntityLookup, number>>>): void {
    this.#parts.observe({ kind: "entity-cache-read", service: this.#subgraph, results });
  }

  countRepeat(): void {
    this.#parts.observe({ kind: "entity-cache-repeat", service: this.#subgraph });
  }

  noteWrite(position: WritePosition): void {
    if (!this.#freshness.noteWrite(position)) this.#parts.invalidate(this.#service);
  }

  /** Whose changes the feed has not delivered yet: those of the receipts, and those of this process. */
  listUnknown(receipts: readonly ServiceWrite[]): readonly ServiceWrite[] {
    return this.#freshness.listUnknown(receipts.filter(({ service }) => service === this.#subgraph));
  }

  /** At most 50 ms. @returns whether the feed has delivered their changes. */
  waitFor(writes: readonly ServiceWrite[]): Promise<boolean> {
    return this.#parts.feeds.waitFor(writes, this.#parts.requestTimeoutMs);
  }
}
