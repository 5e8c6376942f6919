// Stage 4 of 5: run. The entity cache: entities and results of root fields that are the same for every caller, fetched without credentials and shared by all
// client requests of the process. It follows the change feeds of the services. One per process; off unless ENTITY_CACHE_<NAME> is on for a subgraph.
// ../cached-fetch.ts reads through it.
import { type BoundedMap, createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import { createNoteLog, type NoteLog } from "@tributary/kit/collections/note-log";
import { createFeeds, type Feeds } from "@tributary/kit/consistency/feeds";
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import type { EntityLookup, GatewayObserver } from "../../observations.ts";
import type { FetchResult } from "../subgraph-response.ts";
import { createEntityStore, type EntityStore, type StoredResult } from "./entity-store.ts";
import { groupsMax } from "./response-caching.ts";
import { createWholeResults, type WholeResult, type WholeResults } from "./whole-results.ts";

export interface EntityCacheOptions {
  /** The subgraphs whose results are cached, as `nameOf` names them. */
  readonly services: ReadonlySet<string>;
  /** Estimated memory of the stored results. */
  readonly bytesMax: number;
  /** The change feed of each of these subgraphs that has one. */
  readonly feedUrls: Readonly<Record<string, readonly string[]>>;
  readonly feedKey: string;
  /** A read with a receipt waits up to a tenth of it for the feed. */
  readonly requestTimeoutMs: number;
  /** The name of a subgraph in `services` and `feedUrls`. */
  readonly nameOf: (subgraph: string) => string;
  readonly observe: GatewayObserver;
  /** A monotonic clock. Default: `performance.now`. */
  readonly nowMs?: () => number;
}

export interface EntityCache {
  /** Undefined for a subgraph whose results are not cached. The same object for each call. */
  of(subgraph: string): SubgraphCache | undefined;
  size(): MapSize;
  /** Ends the streams of the feeds. */
  close(): Promise<void>;
}

/** The place of a request in the order of changes, from when it was sent. */
export interface Fill {
  readonly position: number;
  readonly sentAtMs: number;
  readonly settledWrites: number;
}

/** What a response says of one of its results. */
interface Storable extends Pick<StoredResult, "key" | "data" | "groups" | "needsFeed"> {
  /** How long it is fresh, at least 1. */
  readonly seconds: number;
}

/** A result in the cache that may be used now. */
export interface CacheHit extends Pick<StoredResult, "data" | "groups"> {
  readonly stored: StoredResult;
  /** How long it remains fresh, in whole seconds; 0 for less than one. */
  readonly seconds: number;
}

/** The cache of one subgraph. */
export interface SubgraphCache {
  /** Increases with each change of the subgraph that becomes known. */
  readonly changesCount: number;
  /** A short text for a request's text, for keys. Not the same after the text was evicted; then keys that contain it are never found. */
  toShortText(text: string): string;
  /** @param settledWrites mutations of this process to the subgraph that have settled. */
  find(key: string, settledWrites: number): CacheHit | undefined;
  /** The result of a whole request that was composed of results that may all be used now; counts them as read. */
  findWhole(body: string, settledWrites: number): FetchResult | undefined;
  /** Stores the result of a whole request that is composed of these results, which were all found. */
  putWhole(body: string, result: FetchResult, hits: Iterable<CacheHit>): void;
  /** Call it when the request is sent. */
  startFill(settledWrites: number): Fill;
  /** Stores a result unless it may be older than a change that is known, or the subgraph has no feed and the result needs one. */
  put(fill: Fill, storable: Storable): void;
  /** Notes that the result depends on the caller, or is no use to others: for ten seconds, callers with credentials fetch it with them at once. */
  mark(key: string): void;
  isMarked(key: string): boolean;
  /** Reports how many results a request reads from the cache, fetches without credentials, and fetches with credentials since they are marked. */
  count(results: Readonly<Record<EntityLookup, number>>): void;
  /** Reports that a request is repeated with credentials. */
  countRepeat(): void;
  /** The receipts of this subgraph's writes whose changes are not known yet. */
  listUnknown(writes: readonly ServiceWrite[]): readonly ServiceWrite[];
  /** Waits shortly until the changes of these writes are known. @returns whether they are. */
  waitFor(writes: readonly ServiceWrite[]): Promise<boolean>;
}

/** Group names and subgraphs to remember, some hundred bytes each. */
const notesMax = 10_000;
const marksMax = 20_000;
const markMs = 10_000;
/** Results of a subgraph with a feed are fresh for at most so long, whatever it says. */
const fedSecondsMax = 60;
/** While the feed of a subgraph is down, its results are used for so long. */
const unfedMsMax = 2_000;
/** The shares of the memory for the texts of requests, and for whole results. */
const textsShare = 0.1;
const wholesShare = 0.4;
/** A whole result marks its parts as used at most so often. */
const usedEveryMs = 1_000;
const textBytes = 150;

export function createEntityCache(o: EntityCacheOptions): EntityCache {
  const { nowMs = () => performance.now(), observe } = o;
  const caches = new Map<string, SubgraphCacheState | undefined>();
  const store = createEntityStore({
    bytesMax: o.bytesMax * (1 - textsShare - wholesShare),
    onEvicted: () => observe({ kind: "cache-evicted", cache: "entities" }),
  });
  const changesCounts = new Map<string, number>();
  const log = createNoteLog({ notesMax });
  const feeds = createFeeds({
    ...o,
    onChanges(service, groups) {
      changesCounts.set(service, (changesCounts.get(service) ?? 0) + 1);
      for (const group of groups) {
        log.note(nameGroup(service, group));
        store.deleteGroup(service, group);
      }
    },
    onReset(service) {
      changesCounts.set(service, (changesCounts.get(service) ?? 0) + 1);
      log.note(service);
      store.deleteService(service);
    },
    onState: (service, state, cause) => observe({ kind: "feed-state", service, state, cause }),
  });
  const parts: CacheParts = {
    ...{ store, log, feeds, nowMs, observe, requestTimeoutMs: o.requestTimeoutMs },
    shortTexts: createShortTexts(o.bytesMax * textsShare),
    marks: createBoundedMap({ entriesMax: marksMax }),
    wholesBytesMax: (o.bytesMax * wholesShare) / o.services.size,
    changesCountOf: (name) => changesCounts.get(name) ?? 0,
  };

  return {
    of(subgraph) {
      if (caches.has(subgraph)) return caches.get(subgraph);
      const name = o.nameOf(subgraph);
      const cache = o.services.has(name) ? new SubgraphCacheState(subgraph, name, parts) : undefined;
      caches.set(subgraph, cache);
      return cache;
    },
    size: store.size,
    close: feeds.close,
  };
}

interface CacheParts {
  readonly store: EntityStore;
  /** Of subgraphs, and of their groups (`nameGroup`). */
  readonly log: NoteLog;
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

class SubgraphCacheState implements SubgraphCache {
  readonly #subgraph: string;
  /** Of the subgraph, in the configuration. */
  readonly #name: string;
  readonly #parts: CacheParts;
  readonly #wholes: WholeResults;

  constructor(subgraph: string, name: string, parts: CacheParts) {
    this.#subgraph = subgraph;
    this.#name = name;
    this.#parts = parts;
    this.#wholes = createWholeResults(parts.wholesBytesMax);
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
    if (ageMs >= result.freshMs) {
      store.delete(key);
      return undefined;
    }
    if (feeds.isUp(this.#name) !== true) {
      // Without the feed, a write of another process is not known, but one of this process is.
      if (result.settledWrites !== settledWrites || (result.needsFeed && ageMs >= unfedMsMax)) return undefined;
    }
    return {
      stored: result,
      data: result.data,
      groups: result.groups,
      seconds: Math.floor((result.freshMs - ageMs) / 1_000),
    };
  }

  findWhole(body: string, settledWrites: number): FetchResult | undefined {
    const { store, feeds, nowMs } = this.#parts;
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

  /** While the feed is down, the parts are checked one by one. Without a feed, only the writes of this process are known. */
  #knowsChanges({ parts }: WholeResult, settledWrites: number): boolean {
    const isUp = this.#parts.feeds.isUp(this.#name);
    return isUp ?? parts.every((part) => part.settledWrites === settledWrites);
  }

  putWhole(body: string, result: FetchResult, hits: Iterable<CacheHit>): void {
    this.#wholes.put(
      body,
      result,
      Array.from(hits, ({ stored }) => stored),
    );
  }

  startFill(settledWrites: number): Fill {
    return { position: this.#parts.log.position, sentAtMs: this.#parts.nowMs(), settledWrites };
  }

  put(fill: Fill, { seconds, ...result }: Storable): void {
    const { store, marks, feeds } = this.#parts;
    const hasFeed = feeds.isUp(this.#name) !== undefined;
    if ((result.needsFeed && !hasFeed) || result.groups.length > groupsMax || this.#isOutdated(fill, result.groups))
      return;
    const freshMs = 1_000 * (result.needsFeed ? Math.min(seconds, fedSecondsMax) : seconds);
    store.put({ ...result, service: this.#name, freshMs, sentAtMs: fill.sentAtMs, settledWrites: fill.settledWrites });
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

  listUnknown(writes: readonly ServiceWrite[]): readonly ServiceWrite[] {
    if (writes.length === 0) return writes;
    const ofSubgraph = writes.filter(({ service }) => service === this.#subgraph);
    return ofSubgraph
      .map((write) => ({ ...write, service: this.#name }))
      .filter((write) => !this.#parts.feeds.knows(write));
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

/** Group names contain no line break (RFC 9875, 2). */
function nameGroup(service: string, group: string): string {
  return `${service}\n${group}`;
}

/** Numbers for the texts of requests, which are long and part of many keys. @param bytesMax estimated memory of the texts. */
function createShortTexts(bytesMax: number): (text: string) => string {
  const known = createBoundedMap<string>({ entriesMax: Infinity, weightMax: bytesMax });
  let last = 0;
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const short = String(++last);
    known.set(text, short, text.length + textBytes);
    return short;
  };
}
