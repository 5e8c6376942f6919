/**
 * How the cache responds to a `GET` or `HEAD` (RFC 9111, 4), in this order: a fresh entry; a stale entry, with a refresh in the background; a request
 * to the origin that other clients share; this client's own request.
 */
import type { ServerResponse } from "node:http";
import { createDeadlineSignal, createDisconnectSignal, DeadlinePassed } from "@tributary/kit/http/abort-source";
import type { CacheLookup, CacheObservation, ForwardReason, OriginFetchers } from "./cache-request.ts";
import { hasToken, type SharedFetch, type SharedFetches } from "./coalescing.ts";
import { type Entry, isFresh, isSentAfter, secondsLeft } from "./entry.ts";
import { createHeadValidation } from "./freshening.ts";
import { acceptsStale, CacheFetcher, type CacheFetchOptions, type MissOrRefresh } from "./origin-fetch.ts";
import {
  forwardPastCache,
  type CachedResponse,
  type AddHeaders,
  type CacheExchange,
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
  readonly backgroundMax: number;
}

export interface Hits {
  /** Counts a hit: the caller has to send it. */
  findFresh(lookup: CacheLookup): CachedResponse | undefined;
  hasFresh(lookup: CacheLookup): boolean;
}

export interface Reads extends Hits {
  /** @throws as `SharedCache.respond`. */
  read(exchange: CacheExchange): Promise<void>;
}

interface Miss extends MissOrRefresh {
  readonly response: ServerResponse;
}

/** After a failed refresh, the stale entry is used this long before the next attempt. */
const refreshPauseMs = 1_000;
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

  function findUsable(
    { key, request, varyValueOf, sentAfter, isForClientOnly }: CacheLookup,
    atMs: number,
  ): Entry | undefined {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    if (isForClientOnly || rules.isForOrigin(request)) return undefined;
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

  async function read(exchange: CacheExchange): Promise<void> {
    const { lookup, response, fetchers, addHeaders } = exchange;
    const { request } = lookup;
    if (lookup.isForClientOnly || rules.isForOrigin(request) || rules.forbidsStoring(request)) {
      return forwardPastCache(options, { ...exchange, forwarded: "bypass" });
    }
    const fresh = findFresh(lookup);
    if (fresh) return writeCachedResponse(response, fresh, addHeaders);
    const entry = following.confirm(store.find(lookup.key, lookup.varyValueOf));
    const isValidation = mustValidate(request);
    const mayBeStale = entry !== undefined && acceptsStale(lookup, entry) && following.isCurrent(entry);
    const mayRefresh = mayBeStale && following.mayRefresh(entry) && stale.mayWhileRevalidating(entry);
    // A fresh entry is not fresh enough for this client (`max-age`, `min-fresh`).
    if (mayRefresh && !isValidation && !isFresh(entry, nowMs())) {
      refresh(lookup, fetchers, entry);
      observe({ kind: "stale", because: "while-revalidate" });
      return writeStale(options, response, request, entry, addHeaders);
    }
    // A validation has just failed.
    if (mayBeStale && isValidation && stale.mayAfterError(entry)) {
      observe({ kind: "stale", because: "if-error" });
      return writeStale(options, response, request, entry, addHeaders);
    }
    if (rules.forbidsForwarding(request)) return respondOnlyIfCached(name, response, addHeaders);
    const forwarded = whyForwarded(lookup, entry);
    const miss: Miss = { ...exchange, entry, forwarded, isValidation };
    const isHead = request.method === "HEAD";
    // A `HEAD` with `no-cache` validates by a `GET`, so that both methods share one request.
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
    if (isFresh(entry, nowMs()) && following.isCurrent(entry)) return "request";
    return "stale";
  }

  return { findFresh, hasFresh: (lookup) => findUsable(lookup, nowMs()) !== undefined, read };
}

/** No other client waits for the response. */
async function fetchAlone(fetcher: CacheFetcher, miss: Miss): Promise<void> {
  const signal = createDisconnectSignal(miss.response, miss.endsAtMs);
  await fetcher.fetch({ ...miss, signal, withConditions: true, isWanted: () => false });
}

function respondOnlyIfCached(name: string, response: ServerResponse, addHeaders: AddHeaders): void {
  const headers = ["Cache-Status", name, "Content-Length", "0"];
  writeCachedResponse(response, { status: 504, headers, body: undefined }, addHeaders);
}

function createSharedMisses(options: ReadOptions, fetcher: CacheFetcher) {
  const { name, store, nowMs, observe, sharedFetches, unshared, backgroundMax } = options;
  const pausedRefreshes = createTtlSet({ entriesMax: pausesMax, nowMs });

  /** @returns false if the client has to send its own request; nothing is written then. */
  async function fetchShared(miss: Miss): Promise<boolean> {
    const { lookup, response, isValidation } = miss;
    // The response may have a `Vary` that this request does not match.
    for (let attempt = 0; attempt < shareAttemptsMax && mayShare(miss, unshared); attempt++) {
      const inFlight = sharedFetches.find(lookup, isValidation);
      if (!inFlight) {
        if (sharedFetches.inFlight >= backgroundMax) return false;
        await startShared(fetcher, start(lookup, isValidation), miss);
        return true;
      }
      const hasResponded = await awaitShared(inFlight, miss);
      if (hasResponded || response.destroyed) return true;
    }
    return false;
  }

  function start(lookup: CacheLookup, isValidation: boolean): SharedFetch {
    const fields = store.variants(lookup.key)[0]?.varyKey.fields ?? [];
    return sharedFetches.start(lookup, toVaryKey(fields, lookup.varyValueOf), isValidation);
  }

  async function awaitShared(shared: SharedFetch, miss: Miss): Promise<boolean> {
    const { lookup, response, addHeaders, forwarded } = miss;
    // Whether the response is for every client is not known yet: of a request with a token, only its own client is informed.
    const leave = shared.join(response, hasToken(lookup) ? undefined : miss.onInformation);
    miss.fetchers.onJoined?.();
    const outcome = await waitUntil(miss.endsAtMs, shared.outcome).finally(leave);
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

  /** RFC 5861, 3. */
  function refresh(lookup: CacheLookup, fetchers: OriginFetchers, entry: Entry): void {
    const { origin, key } = lookup;
    if (sharedFetches.isBeingFetched(lookup) || pausedRefreshes.has(key)) return;
    if (sharedFetches.inFlight >= backgroundMax) return observe({ kind: "refresh-skipped" });
    const shared = start(lookup, false);
    shared.join();
    const background: MissOrRefresh = {
      lookup,
      response: undefined,
      // With this client's token, if any: stored only if it may be shared (RFC 9111, 3.5).
      fetchers,
      addHeaders: addNoHeaders,
      entry,
      forwarded: "stale",
      isValidation: false,
      isBackground: true,
    };
    runShared(fetcher, shared, background).catch((cause: unknown) => {
      pausedRefreshes.add(key, refreshPauseMs);
      observe({ kind: "refresh-failed", origin, key, cause });
    });
  }

  return { fetchShared, refresh };
}

/** At the client's deadline the fetch continues without its response, if other clients wait. */
async function startShared(fetcher: CacheFetcher, shared: SharedFetch, miss: Miss): Promise<void> {
  const leave = shared.join(miss.response, miss.onInformation);
  const detachable: MissOrRefresh = { ...miss };
  try {
    await waitUntil(miss.endsAtMs, runShared(fetcher, shared, detachable));
  } catch (error) {
    if (error instanceof DeadlinePassed) {
      detachable.response = undefined;
      leave();
    }
    throw error;
  }
}

/** @throws DeadlinePassed */
async function waitUntil<T>(endsAtMs: number | undefined, result: Promise<T>): Promise<T> {
  if (endsAtMs === undefined) return result;
  const signal = createDeadlineSignal(endsAtMs);
  const { promise: late, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason));
  return Promise.race([result, late]);
}

async function runShared(fetcher: CacheFetcher, shared: SharedFetch, miss: MissOrRefresh): Promise<void> {
  try {
    await fetcher.fetch({
      ...miss,
      // Read when the origin responds.
      get response() {
        return miss.response;
      },
      onInformation: shared.inform,
      signal: shared.signal,
      withConditions: false,
      isWanted: () => shared.waiting > 0,
      onHead(groups) {
        shared.groups = groups;
      },
      onOutcome: shared.finish,
    });
    // Without an outcome, each waiting client sends its own request.
    shared.finish(undefined);
  } catch (error) {
    // A refused client's place may be free for the others, which send their own requests.
    if (miss.fetchers.isRefused?.(error)) shared.finish(undefined);
    else shared.fail(error);
    throw error;
  }
}

/**
 * Not with `Authorization` (RFC 9111, 3.5), nor for a key whose last response could not be shared; except a `no-cache` with a stored response, which
 * could be shared. With `Authorization` it starts a fetch that only requests with `Authorization` join.
 */
function mayShare({ lookup, entry, isValidation }: Miss, unshared: TtlSet): boolean {
  if (isValidation && entry !== undefined) return true;
  return !hasToken(lookup) && !unshared.has(lookup.key);
}
