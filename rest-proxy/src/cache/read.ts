/**
 * How the cache responds to a `GET` or `HEAD` (RFC 9111, 4), the cheapest way first: a fresh entry; a stale entry that is refreshed in the
 * background; a request to the origin that other clients share (`coalescing.ts`); this client's own request. `origin-fetch.ts` sends the requests.
 */
import type { ServerResponse } from "node:http";
import { createDisconnectSignal } from "@tributary/kit/http/abort-source";
import type { CacheLookup, CacheObservation, Forwarded, OriginFetchers } from "./cache-request.ts";
import type { SharedFetch, SharedFetches } from "./coalescing.ts";
import { type Entry, isFresh, isSelected, secondsLeft } from "./entry.ts";
import { createHeadValidation } from "./freshening.ts";
import { CacheFetcher, type CacheFetchOptions } from "./origin-fetch.ts";
import {
  bypass,
  type CachedResponse,
  type CompleteHeaders,
  createCachedResponse,
  forwardedStatus,
  hitStatus,
  unchangedHeaders,
  writeCachedResponse,
  writeStale,
} from "./respond.ts";
import { mustValidate, type RequestRules } from "./reuse-rules.ts";
import { createTtlSet, type TtlSet } from "./ttl-set.ts";

export interface ReadOptions extends CacheFetchOptions {
  readonly sharedFetches: SharedFetches;
  readonly rules: RequestRules;
  /** Coalesced misses and background refreshes in flight at once. */
  readonly backgroundMax: number;
}

/** Responses that need no origin. */
export interface Hits {
  /** The hit: synchronous, for `GET` and `HEAD` only. Undefined if a request to the origin is needed. */
  findFresh(lookup: CacheLookup): CachedResponse | undefined;
}

export interface Reads extends Hits {
  /** Responds to a `GET` or `HEAD`. */
  read(
    lookup: CacheLookup,
    response: ServerResponse,
    fetchers: OriginFetchers,
    complete: CompleteHeaders,
  ): Promise<void>;
}

/** A client's read that needs a request to the origin. */
interface Miss {
  readonly lookup: CacheLookup;
  readonly response: ServerResponse;
  readonly fetchers: OriginFetchers;
  readonly complete: CompleteHeaders;
  /** Stale, or not sufficient for this client. */
  readonly entry: Entry | undefined;
  readonly forwarded: Forwarded;
  /** The client demands a validated response, see `mustValidate`. */
  readonly isValidation: boolean;
}

/** After a failed refresh, the stale entry is used this long before the next attempt. */
const refreshPauseMs = 1_000;
const pausesMax = 10_000;

const hit: CacheObservation = { kind: "hit" };

export function createReads(o: ReadOptions): Reads {
  const { store, rules, stale, nowMs, observe } = o;
  const fetcher = new CacheFetcher(o);
  const { fetchShared, refresh } = createSharedMisses(o, fetcher);
  const validateByHead = createHeadValidation(o);

  function findFresh({ key, request, selecting }: CacheLookup): CachedResponse | undefined {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    if (rules.isForOrigin(request)) return undefined;
    const entry = store.find(key, selecting);
    const atMs = nowMs();
    if (!entry || !rules.isUsable(entry, request, atMs)) return undefined;
    observe(hit);
    return createCachedResponse(entry, request, atMs, hitStatus(o.name, secondsLeft(entry, atMs)));
  }

  async function read(
    lookup: CacheLookup,
    response: ServerResponse,
    fetchers: OriginFetchers,
    complete: CompleteHeaders,
  ): Promise<void> {
    const { request } = lookup;
    if (rules.isForOrigin(request) || rules.forbidsStoring(request)) {
      return bypass(o, { lookup, response, fetchers, complete, forwarded: "bypass" });
    }
    const fresh = findFresh(lookup);
    if (fresh) return writeCachedResponse(response, fresh, complete);
    const entry = store.find(lookup.key, lookup.selecting);
    const isValidation = mustValidate(request);
    if (entry && !isValidation && !isFresh(entry, nowMs()) && stale.mayWhileRevalidating(entry)) {
      refresh(lookup, fetchers, entry);
      observe({ kind: "stale", because: "while-revalidate" });
      return writeStale(o, response, request, entry, complete);
    }
    if (entry && isValidation && stale.mayAfterError(entry)) {
      observe({ kind: "stale", because: "if-error" });
      return writeStale(o, response, request, entry, complete);
    }
    if (rules.forbidsForwarding(request)) return respondOnlyIfCached(response, complete);
    const miss = { lookup, response, fetchers, complete, entry, forwarded: whyForwarded(lookup, entry), isValidation };
    const isHead = request.method === "HEAD";
    // A `HEAD` with `no-cache` validates the entry as `GET` does, so that both together cause one request to the origin.
    if (!isHead || (isValidation && entry)) {
      if ((await fetchShared(miss)) || response.destroyed) return;
    }
    if (isHead) return bypass(o, { ...miss, onResponse: validateByHead(lookup) });
    await fetchAlone(miss);
  }

  function whyForwarded({ key }: CacheLookup, entry: Entry | undefined): Forwarded {
    if (entry) return isFresh(entry, nowMs()) ? "request" : "stale";
    return store.variants(key).length > 0 ? "vary-miss" : "uri-miss";
  }

  async function fetchAlone(miss: Miss): Promise<void> {
    const signal = createDisconnectSignal(miss.response);
    const fetch = miss.fetchers.forClient;
    await fetcher.fetch({ ...miss, fetch, signal, withConditions: true, isWanted: () => false });
  }

  /** RFC 9111, 5.2.1.7. */
  function respondOnlyIfCached(response: ServerResponse, complete: CompleteHeaders): void {
    const headers = ["Cache-Status", o.name, "Content-Length", "0"];
    writeCachedResponse(response, { status: 504, headers, body: undefined }, complete);
  }

  return { findFresh, read };
}

interface SharedMisses {
  /** Joins a request in flight or starts one. @returns false if the client has to send its own request; nothing is written then. */
  fetchShared(miss: Miss): Promise<boolean>;
  /** RFC 5861, 3: one background request per entry at a time; a pause after a failure. */
  refresh(lookup: CacheLookup, fetchers: OriginFetchers, entry: Entry): void;
}

/** Requests to the origin that other clients may join, and background refreshes. */
function createSharedMisses(o: ReadOptions, fetcher: CacheFetcher): SharedMisses {
  const { store, nowMs, observe, sharedFetches, unshared } = o;
  const refreshPaused = createTtlSet({ entriesMax: pausesMax, nowMs });

  async function fetchShared(miss: Miss): Promise<boolean> {
    const { lookup, response, isValidation } = miss;
    // Twice: the first response may show that the two requests select different variants, and another request may be in flight by then.
    for (let attempt = 0; attempt < 2 && mayShare(miss, unshared); attempt++) {
      const inFlight = sharedFetches.find(lookup, isValidation);
      if (inFlight) {
        if ((await awaitShared(inFlight, miss)) || response.destroyed) return true;
        continue;
      }
      if (sharedFetches.inFlight >= o.backgroundMax) return false;
      const started = start(lookup, isValidation);
      started.join(response);
      await runShared(fetcher, started, miss);
      return true;
    }
    return false;
  }

  function start(lookup: CacheLookup, isValidation: boolean): SharedFetch {
    // The next response is expected to vary as the newest one does.
    const fields = store.variants(lookup.key)[0]?.selection.fields ?? [];
    return sharedFetches.start(lookup, { fields, values: fields.map(lookup.selecting) }, isValidation);
  }

  /** @returns false if the client cannot use the outcome. */
  async function awaitShared(shared: SharedFetch, { lookup, response, complete, forwarded }: Miss): Promise<boolean> {
    const leave = shared.join(response);
    const outcome = await shared.outcome.finally(leave);
    if (!outcome || !isSelected(outcome.entry.selection, lookup.selecting)) return false;
    const { entry, isStale } = outcome;
    observe({ kind: "collapsed" });
    if (isStale) writeStale(o, response, lookup.request, entry, complete);
    else {
      const status = forwardedStatus(o.name, { forwarded, isCollapsed: true });
      writeCachedResponse(response, createCachedResponse(entry, lookup.request, nowMs(), status), complete);
    }
    return true;
  }

  function refresh(lookup: CacheLookup, fetchers: OriginFetchers, entry: Entry): void {
    const { origin, key } = lookup;
    if (sharedFetches.isBeingFetched(lookup) || refreshPaused.has(key)) return;
    if (sharedFetches.inFlight >= o.backgroundMax) return observe({ kind: "refresh-skipped" });
    // With this client's token, if it has one: the response is stored only if it is declared to be for everyone (RFC 9111, 3.5).
    const shared = start(lookup, false);
    shared.join();
    const miss = { lookup, fetchers, entry, forwarded: "stale", isValidation: false } as const;
    runShared(fetcher, shared, { ...miss, response: undefined, complete: unchangedHeaders }).catch((cause: unknown) => {
      refreshPaused.add(key, refreshPauseMs);
      observe({ kind: "refresh-failed", origin, key, cause });
    });
  }

  return { fetchShared, refresh };
}

async function runShared(
  fetcher: CacheFetcher,
  shared: SharedFetch,
  miss: Omit<Miss, "response"> & { response: ServerResponse | undefined },
): Promise<void> {
  const { signal } = shared;
  const fetch = miss.fetchers.background;
  const isWanted = () => shared.waiting > 0;
  const onHead = (groups: readonly string[]) => void (shared.groups = groups);
  try {
    await fetcher.fetch({
      ...miss,
      fetch,
      signal,
      withConditions: false,
      isWanted,
      onHead,
      onOutcome: shared.finish,
    });
    // Has no effect unless the response was not stored: each waiting client sends its own request then.
    shared.finish(undefined);
  } catch (error) {
    shared.fail(error);
    throw error;
  }
}

/**
 * A request does not wait for a response that may be for one client only (RFC 9111, 3.5), or that could not be shared the last time. One with
 * `no-cache` whose response is stored does: that response is shared, and probably will be once it is validated. With `Authorization` it may also
 * start a shared fetch, which only other requests with `Authorization` join.
 */
function mayShare({ lookup: { key, request }, entry, isValidation }: Miss, unshared: TtlSet): boolean {
  if (isValidation && entry !== undefined) return true;
  return request.headers["authorization"] === undefined && !unshared.has(key);
}
