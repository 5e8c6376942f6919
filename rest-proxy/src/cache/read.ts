/**
 * How the cache responds to a `GET` or `HEAD` (RFC 9111, 4). It tries in this order: a fresh entry; a stale entry that may still be sent, with a
 * refresh in the background; a request to the origin that other clients share (`coalescing.ts`); this client's own request. `origin-fetch.ts`
 * sends the requests.
 */
import type { ServerResponse } from "node:http";
import { createDisconnectSignal } from "@tributary/kit/http/abort-source";
import type { CacheLookup, CacheObservation, ForwardReason, OriginFetchers } from "./cache-request.ts";
import type { SharedFetch, SharedFetches } from "./coalescing.ts";
import { type Entry, isFresh, isSentAfter, secondsLeft } from "./entry.ts";
import { createHeadValidation } from "./freshening.ts";
import { acceptsStale, CacheFetcher, type CacheFetchOptions } from "./origin-fetch.ts";
import {
  forwardPastCache,
  type CachedResponse,
  type AddHeaders,
  createCachedResponse,
  forwardedStatus,
  hitStatus,
  addNoHeaders,
  writeCachedResponse,
  writeStale,
} from "./write-response.ts";
import { type FollowRules, mustValidate, type RequestRules } from "./reuse-rules.ts";
import { createTtlSet, type TtlSet } from "@tributary/kit/collections/ttl-set";
import { matchesVary, toVaryKey } from "./vary.ts";

export interface ReadOptions extends CacheFetchOptions {
  readonly sharedFetches: SharedFetches;
  readonly rules: RequestRules;
  readonly following: FollowRules;
  /** Coalesced misses and background refreshes in flight at once. */
  readonly backgroundMax: number;
}

/** Responses that need no request to the origin. */
export interface Hits {
  /**
   * Finds a response that may be sent at once, and counts it as a hit: the caller has to send it. Synchronous.
   * @returns undefined without a usable entry, and for every method but `GET` and `HEAD`: call `respond` then.
   */
  findFresh(lookup: CacheLookup): CachedResponse | undefined;
  /** Whether `findFresh` finds a response. Counts nothing. */
  hasFresh(lookup: CacheLookup): boolean;
}

export interface Reads extends Hits {
  /** Responds to a `GET` or `HEAD`. @throws as `SharedCache.respond`. */
  read(lookup: CacheLookup, response: ServerResponse, fetchers: OriginFetchers, addHeaders: AddHeaders): Promise<void>;
}

/** A `GET` or `HEAD` that needs a request to the origin: a client's, or a background refresh. */
interface MissOrRefresh {
  readonly lookup: CacheLookup;
  /** The client's; undefined for a background refresh. */
  readonly response: ServerResponse | undefined;
  readonly fetchers: OriginFetchers;
  readonly addHeaders: AddHeaders;
  /** The stored response that matches, if any: it is stale, or does not meet the client's demands. */
  readonly entry: Entry | undefined;
  readonly forwarded: ForwardReason;
  /** The client demands a response that the origin has just confirmed (`mustValidate`). */
  readonly isValidation: boolean;
}

/** A client's `GET` or `HEAD` that needs a request to the origin. */
interface Miss extends MissOrRefresh {
  readonly response: ServerResponse;
}

/** After a failed refresh, the stale entry is used this long before the next attempt. */
const refreshPauseMs = 1_000;
/** The number of keys whose refreshes are paused. */
const pausesMax = 10_000;
/** How often a request tries to join or start a shared fetch before it is sent alone. */
const shareAttemptsMax = 2;

/** One object for all hits, since they are frequent. */
const hit: CacheObservation = { kind: "hit" };

export function createReads(options: ReadOptions): Reads {
  const { name, store, rules, stale, following, nowMs, observe } = options;
  const fetcher = new CacheFetcher(options);
  const { fetchShared, refresh } = createSharedMisses(options, fetcher);
  const validateByHead = createHeadValidation(options);

  function findUsable({ key, request, varyValueOf, sentAfter }: CacheLookup, atMs: number): Entry | undefined {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    if (rules.isForOrigin(request)) return undefined;
    const entry = following.confirm(store.find(key, varyValueOf));
    if (!entry) return undefined;
    if (!isSentAfter(entry, sentAfter)) return undefined;
    if (!rules.isUsable(entry, request, atMs)) return undefined;
    return following.isCurrent(entry) ? entry : undefined;
  }

  function findFresh(lookup: CacheLookup): CachedResponse | undefined {
    const atMs = nowMs();
    const entry = findUsable(lookup, atMs);
    if (!entry) return undefined;
    observe(hit);
    return createCachedResponse(entry, lookup.request, atMs, hitStatus(name, secondsLeft(entry, atMs)));
  }

  async function read(
    lookup: CacheLookup,
    response: ServerResponse,
    fetchers: OriginFetchers,
    addHeaders: AddHeaders,
  ): Promise<void> {
    const { request } = lookup;
    if (rules.isForOrigin(request) || rules.forbidsStoring(request)) {
      return forwardPastCache(options, { lookup, response, fetchers, addHeaders, forwarded: "bypass" });
    }
    const fresh = findFresh(lookup);
    if (fresh) return writeCachedResponse(response, fresh, addHeaders);
    const entry = following.confirm(store.find(lookup.key, lookup.varyValueOf));
    const isValidation = mustValidate(request);
    const mayBeStale = entry !== undefined && acceptsStale(lookup, entry) && following.isCurrent(entry);
    const mayRefresh = mayBeStale && following.mayRefresh(entry) && stale.mayWhileRevalidating(entry);
    // An entry that is fresh here is not fresh enough for this client (`max-age`, `min-fresh`), so this client must not get it.
    if (mayRefresh && !isValidation && !isFresh(entry, nowMs())) {
      refresh(lookup, fetchers, entry);
      observe({ kind: "stale", because: "while-revalidate" });
      return writeStale(options, response, request, entry, addHeaders);
    }
    // A validation of the entry has just failed: no further request is sent to the origin at once.
    if (mayBeStale && isValidation && stale.mayAfterError(entry)) {
      observe({ kind: "stale", because: "if-error" });
      return writeStale(options, response, request, entry, addHeaders);
    }
    if (rules.forbidsForwarding(request)) return respondOnlyIfCached(name, response, addHeaders);
    const forwarded = whyForwarded(lookup, entry);
    const miss: Miss = { lookup, response, fetchers, addHeaders, entry, forwarded, isValidation };
    const isHead = request.method === "HEAD";
    // A `HEAD` with `no-cache` validates the entry by a `GET`, so that both methods share one request to the origin. Any other `HEAD` is forwarded.
    const isFetchedByGet = !isHead || (isValidation && entry !== undefined);
    if (isFetchedByGet) {
      const hasResponded = await fetchShared(miss);
      if (hasResponded || response.destroyed) return;
    }
    if (isHead) return forwardPastCache(options, { ...miss, onResponse: validateByHead(lookup) });
    await fetchAlone(fetcher, miss);
  }

  function whyForwarded({ key }: CacheLookup, entry: Entry | undefined): ForwardReason {
    if (!entry) return store.variants(key).length > 0 ? "vary-miss" : "uri-miss";
    // Although the entry is fresh, the request demands more.
    if (isFresh(entry, nowMs()) && following.isCurrent(entry)) return "request";
    return "stale";
  }

  return { findFresh, hasFresh: (lookup) => findUsable(lookup, nowMs()) !== undefined, read };
}

/** Sends this client's own request. No other client waits for its response (`isWanted`), so it is aborted if the client disconnects. */
async function fetchAlone(fetcher: CacheFetcher, miss: Miss): Promise<void> {
  const signal = createDisconnectSignal(miss.response);
  const fetch = miss.fetchers.forClient;
  await fetcher.fetch({ ...miss, fetch, signal, withConditions: true, isWanted: () => false });
}

/** 504 for `only-if-cached` (RFC 9111, 5.2.1.7). @param name of the cache. */
function respondOnlyIfCached(name: string, response: ServerResponse, addHeaders: AddHeaders): void {
  const headers = ["Cache-Status", name, "Content-Length", "0"];
  writeCachedResponse(response, { status: 504, headers, body: undefined }, addHeaders);
}

interface SharedMisses {
  /**
   * Joins a shared fetch in flight or starts one, and writes its response.
   * @returns false if the client has to send its own request; nothing is written then.
   */
  fetchShared(miss: Miss): Promise<boolean>;
  /** Refreshes a stale entry in the background (RFC 5861, 3): one request per entry at a time, none for `refreshPauseMs` after a failure. */
  refresh(lookup: CacheLookup, fetchers: OriginFetchers, entry: Entry): void;
}

function createSharedMisses(options: ReadOptions, fetcher: CacheFetcher): SharedMisses {
  const { name, store, nowMs, observe, sharedFetches, unshared, backgroundMax } = options;
  const pausedRefreshes = createTtlSet({ entriesMax: pausesMax, nowMs });

  async function fetchShared(miss: Miss): Promise<boolean> {
    const { lookup, response, isValidation } = miss;
    // The response of the joined fetch may have a `Vary` that this request does not match, and another fetch may be in flight by then.
    for (let attempt = 0; attempt < shareAttemptsMax && mayShare(miss, unshared); attempt++) {
      const inFlight = sharedFetches.find(lookup, isValidation);
      if (!inFlight) {
        if (sharedFetches.inFlight >= backgroundMax) return false;
        const started = start(lookup, isValidation);
        started.join(response);
        await runShared(fetcher, started, miss);
        return true;
      }
      const hasResponded = await awaitShared(inFlight, miss);
      if (hasResponded || response.destroyed) return true;
    }
    return false;
  }

  function start(lookup: CacheLookup, isValidation: boolean): SharedFetch {
    // The response is expected to have the same `Vary` as the newest stored response.
    const fields = store.variants(lookup.key)[0]?.varyKey.fields ?? [];
    return sharedFetches.start(lookup, toVaryKey(fields, lookup.varyValueOf), isValidation);
  }

  /** Waits for a shared fetch and writes its response. @returns false if this client cannot use the response. */
  async function awaitShared(shared: SharedFetch, { lookup, response, addHeaders, forwarded }: Miss): Promise<boolean> {
    const leave = shared.join(response);
    const outcome = await shared.outcome.finally(leave);
    if (!outcome || !matchesVary(outcome.entry.varyKey, lookup.varyValueOf)) return false;
    const { entry, isStale } = outcome;
    const isAccepted = isStale ? acceptsStale(lookup, entry) : isSentAfter(entry, lookup.sentAfter);
    if (!isAccepted) return false;
    observe({ kind: "collapsed" });
    if (isStale) {
      writeStale(options, response, lookup.request, entry, addHeaders);
    } else {
      const cacheStatus = forwardedStatus(name, { forwarded, isCollapsed: true });
      writeCachedResponse(response, createCachedResponse(entry, lookup.request, nowMs(), cacheStatus), addHeaders);
    }
    return true;
  }

  function refresh(lookup: CacheLookup, fetchers: OriginFetchers, entry: Entry): void {
    const { origin, key } = lookup;
    if (sharedFetches.isBeingFetched(lookup) || pausedRefreshes.has(key)) return;
    if (sharedFetches.inFlight >= backgroundMax) return observe({ kind: "refresh-skipped" });
    const shared = start(lookup, false);
    shared.join();
    const background: MissOrRefresh = {
      lookup,
      response: undefined,
      // They have this client's token, if the client sent one: the response is then stored only if it may be shared (RFC 9111, 3.5).
      fetchers,
      addHeaders: addNoHeaders,
      entry,
      forwarded: "stale",
      isValidation: false,
    };
    runShared(fetcher, shared, background).catch((cause: unknown) => {
      pausedRefreshes.add(key, refreshPauseMs);
      observe({ kind: "refresh-failed", origin, key, cause });
    });
  }

  return { fetchShared, refresh };
}

/** Sends the request of a shared fetch and settles the fetch. Rejects with the error that the fetch is settled with. */
async function runShared(fetcher: CacheFetcher, shared: SharedFetch, miss: MissOrRefresh): Promise<void> {
  try {
    await fetcher.fetch({
      ...miss,
      fetch: miss.fetchers.background,
      signal: shared.signal,
      withConditions: false,
      isWanted: () => shared.waiting > 0,
      onHead(groups) {
        shared.groups = groups;
      },
      onOutcome: shared.finish,
    });
    // If `onOutcome` was not called, the waiting clients cannot use the response: each sends its own request. Otherwise this has no effect.
    shared.finish(undefined);
  } catch (error) {
    shared.fail(error);
    throw error;
  }
}

/**
 * Whether the request may join or start a shared fetch. Not with `Authorization`, since the response may be for one client only (RFC 9111, 3.5), and
 * not for a key whose last response could not be shared. The exception is a `no-cache` with a stored response: that response could be shared, so
 * its validation probably can; with `Authorization` it may start a shared fetch, which only requests with `Authorization` join.
 */
function mayShare({ lookup: { key, request }, entry, isValidation }: Miss, unshared: TtlSet): boolean {
  if (isValidation && entry !== undefined) return true;
  return request.headers["authorization"] === undefined && !unshared.has(key);
}
