// Stage 4 of 5: run. The entity cache: entities and results of root fields that are the same for every caller. It follows the change feeds of the
// services. One per process; off unless the settings of a subgraph turn it on.
import { createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import { createTtlSet } from "@tributary/kit/collections/ttl-set";
import { createFeeds } from "@tributary/kit/consistency/feeds";
import type { Revocations } from "@tributary/kit/caller/revocations";
import { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
import type { GatewayObserver } from "../../../observations.ts";
import { createEntityStore } from "./entity-store.ts";
import { ServiceFreshness } from "./freshness.ts";
import { type CacheParts, SubgraphCache } from "./subgraph-cache.ts";

export interface EntityCacheOptions {
  /** As `nameOf` names them. */
  readonly services: ReadonlySet<string>;
  readonly bytesMax: number;
  readonly feedUrls: Readonly<Record<string, readonly string[]>>;
  readonly feedKey: string;
  readonly revocations?: Revocations;
  /** A read that must see a write waits for the feed: up to a tenth of this time, and at most 50 ms. */
  readonly requestTimeoutMs: number;
  /** The name of a subgraph in `services`, `feedUrls` and observations of feeds. */
  readonly nameOf: (subgraph: string) => string;
  readonly observe: GatewayObserver;
  readonly nowMs?: () => number;
}

export interface EntityCache {
  /** Undefined if it is not cached. The same object for each call. */
  of(subgraph: string): SubgraphCache | undefined;
  /** Whether the feed of a subgraph is up. Undefined without a feed. */
  isFollowed(subgraph: string): boolean | undefined;
  /** What is memoized on whole results keeps the plans of their supergraph in memory. */
  forgetWholes(): void;
  /** Of the stored results; the memory includes whole results. */
  size(): MapSize;
  close(): Promise<void>;
}

/** Groups and subgraphs, some hundred bytes each. */
const notesMax = 10_000;
const marksMax = 20_000;
/** Of `bytesMax`, for the texts of requests and for whole results. The rest is for the entity store. */
const textsShare = 0.1;
const wholesShare = 0.4;
/** Besides the text. */
const textBytes = 150;

export function createEntityCache(o: EntityCacheOptions): EntityCache {
  const { nowMs = () => performance.now(), observe } = o;
  const caches = new Map<string, SubgraphCache | undefined>();
  const store = createEntityStore({
    bytesMax: o.bytesMax * (1 - textsShare - wholesShare),
    onEvicted: () => observe({ kind: "cache-evicted", cache: "entities" }),
  });
  const log = new InvalidationLog({ notesMax });

  function invalidate(service: string): void {
    log.noteOrigin(service);
    store.deleteOrigin(service);
  }

  const feeds = createFeeds({
    feedUrls: o.feedUrls,
    feedKey: o.feedKey,
    revocations: o.revocations,
    onChanges(service, groups) {
      countFeedChange(service);
      for (const group of groups) {
        log.noteGroup(group, service);
        store.deleteGroup(group, service);
      }
    },
    onReset(service) {
      countFeedChange(service)?.forgetWrites();
      invalidate(service);
    },
    onState(service, state, cause) {
      freshnessOf.get(service)?.noteFeedState(state);
      observe({ kind: "feed-state", service, state, cause });
    },
  });
  const freshnessOf = new Map(
    Array.from(o.services, (service) => [service, new ServiceFreshness({ service, feeds, log, nowMs })]),
  );

  function countFeedChange(service: string): ServiceFreshness | undefined {
    const freshness = freshnessOf.get(service);
    if (freshness) freshness.feedChanges++;
    return freshness;
  }

  const parts: CacheParts = {
    store,
    log,
    invalidate,
    feeds,
    nowMs,
    observe,
    requestTimeoutMs: o.requestTimeoutMs,
    shortTexts: createShortTexts(o.bytesMax * textsShare),
    marks: createTtlSet({ entriesMax: marksMax, nowMs }),
    wholesBytesMax: (o.bytesMax * wholesShare) / o.services.size,
  };

  return {
    of(subgraph) {
      if (caches.has(subgraph)) return caches.get(subgraph);
      const name = o.nameOf(subgraph);
      const freshness = freshnessOf.get(name);
      const cache = freshness && new SubgraphCache(subgraph, name, freshness, parts);
      caches.set(subgraph, cache);
      return cache;
    },
    isFollowed: (subgraph) => feeds.isUp(o.nameOf(subgraph)),
    forgetWholes: () => caches.forEach((cache) => cache?.forgetWholes()),
    size() {
      const { entries, weight } = store.size();
      return { entries, weight: caches.values().reduce((sum, cache) => sum + (cache?.wholesBytes ?? 0), weight) };
    },
    close: feeds.close,
  };
}

/** Numbers for the texts of requests, which are long and part of many keys. */
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
