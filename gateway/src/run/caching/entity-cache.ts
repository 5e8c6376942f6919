// Stage 4 of 5: run. The entity cache: entities and results of root fields that are the same for every caller, fetched without credentials and shared
// by all client requests of the process. It follows the change feeds of the services. One per process; off unless ENTITY_CACHE_<NAME> is on for a
// subgraph. ../cached-fetch.ts reads through it.
import { createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import { createNoteLog } from "@tributary/kit/collections/note-log";
import { createFeeds } from "@tributary/kit/consistency/feeds";
import type { Revocations } from "@tributary/kit/caller/revocations";
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import type { GatewayObserver } from "../../observations.ts";
import { createEntityStore, nameGroup } from "./entity-store.ts";
import { type CacheParts, type SubgraphCache, SubgraphCacheState } from "./subgraph-cache.ts";

export interface EntityCacheOptions {
  /** The subgraphs whose results are cached, as `nameOf` names them. */
  readonly services: ReadonlySet<string>;
  /** Estimated memory of the stored results. */
  readonly bytesMax: number;
  /** The change feed of each of these subgraphs that has one. */
  readonly feedUrls: Readonly<Record<string, readonly string[]>>;
  readonly feedKey: string;
  /** Gets the subjects whose tokens the services revoke. */
  readonly revocations?: Revocations;
  /** A read that must see a write waits for the feed: up to a tenth of this time, and at most 50 ms (kit/src/consistency/feeds.ts). */
  readonly requestTimeoutMs: number;
  /** The name of a subgraph in `services`, `feedUrls` and observations of feeds. */
  readonly nameOf: (subgraph: string) => string;
  readonly observe: GatewayObserver;
  /** A monotonic clock. Default: `performance.now`. */
  readonly nowMs?: () => number;
}

export interface EntityCache {
  /** Undefined for a subgraph whose results are not cached. The same object for each call. */
  of(subgraph: string): SubgraphCache | undefined;
  /** The number of stored results; their estimated memory, with that of the whole results. */
  size(): MapSize;
  /** Ends the streams of the feeds. */
  close(): Promise<void>;
}

/** Invalidations to remember (groups and subgraphs), some hundred bytes each. */
const notesMax = 10_000;
/** Keys of results that depend on the caller (`SubgraphCache.mark`). */
const marksMax = 20_000;
/** The shares of `bytesMax` for the texts of requests, and for whole results (whole-results.ts). The rest is for the entity store. */
const textsShare = 0.1;
const wholesShare = 0.4;
/** Estimated memory of the entry for one text, besides the text. */
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
  const ownWrites = new Map<string, readonly ServiceWrite[]>();

  function countChange(service: string): void {
    changesCounts.set(service, (changesCounts.get(service) ?? 0) + 1);
  }

  function invalidate(service: string): void {
    log.note(service);
    store.deleteService(service);
  }

  const feeds = createFeeds({
    feedUrls: o.feedUrls,
    feedKey: o.feedKey,
    revocations: o.revocations,
    onChanges(service, groups) {
      countChange(service);
      for (const group of groups) {
        log.note(nameGroup(service, group));
        store.deleteGroup(service, group);
      }
    },
    // Every stored result of the service may be outdated.
    onReset(service) {
      countChange(service);
      invalidate(service);
      ownWrites.delete(service);
    },
    onState: (service, state, cause) => observe({ kind: "feed-state", service, state, cause }),
  });
  const parts: CacheParts = {
    store,
    log,
    ownWrites,
    invalidate,
    feeds,
    nowMs,
    observe,
    requestTimeoutMs: o.requestTimeoutMs,
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
    size() {
      const stored = store.size();
      let weight = stored.weight;
      for (const cache of caches.values()) weight += cache?.wholesBytes() ?? 0;
      return { entries: stored.entries, weight };
    },
    close: feeds.close,
  };
}

/** Assigns numbers to the texts of requests, since these are long and part of many keys. @param bytesMax estimated memory of the texts. */
function createShortTexts(bytesMax: number): (text: string) => string {
  const shortTexts = createBoundedMap<string>({ entriesMax: Infinity, weightMax: bytesMax });
  let lastNumber = 0;
  return (text) => {
    const known = shortTexts.get(text);
    if (known !== undefined) return known;
    lastNumber++;
    const shortText = String(lastNumber);
    shortTexts.set(text, shortText, text.length + textBytes);
    return shortText;
  };
}
