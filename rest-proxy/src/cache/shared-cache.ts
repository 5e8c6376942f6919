/**
 * A shared cache for HTTP responses (RFC 9111): its options and guarantees, and what a write does. `read.ts` handles reads. The cache knows no
 * route, no service and no body format.
 */
import type { ServerResponse } from "node:http";
import { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
import type { CacheLookup, CacheObservation, OriginFetchers, OriginResponse } from "./cache-request.ts";
import { createSharedFetches } from "./coalescing.ts";
import { createInvalidate, type Invalidation, invalidatedBy, isSafe } from "./invalidation.ts";
import { createReads, type Hits } from "./read.ts";
import { forwardPastCache, type AddHeaders } from "./write-response.ts";
import { createFollowRules, createRequestRules, createStaleRules, type FollowOptions } from "./reuse-rules.ts";
import { Store } from "./store.ts";
import { createTtlSet } from "@tributary/kit/collections/ttl-set";

export interface SharedCacheOptions extends FollowOptions {
  /** The name in `Cache-Status` (RFC 9211, 2): a token. */
  readonly name: string;
  /** For all stored responses: bodies, headers, keys, and an estimate for objects. */
  readonly bytesMax: number;
  /** For one response; a longer one is relayed but not stored. Bodies that are being collected are bounded by twice `backgroundMax` times this. */
  readonly entryBytesMax: number;
  readonly entriesMax: number;
  /** Responses under one key that differ by `Vary`. */
  readonly variantsMax: number;
  /** Coalesced misses and background refreshes in flight at once. Beyond it, nothing is refreshed early and each client sends its own request. */
  readonly backgroundMax: number;
  /** Response header fields with precedence over `Cache-Control` (RFC 9213, 2.2), in this order, in lower case: `cdn-cache-control`. */
  readonly targetedFields: readonly string[];
  /**
   * Whether a client's `Cache-Control` counts in full (RFC 9111, 5.2.1: it is advice), and `Range`, `If-Match` and `If-Unmodified-Since` make a read
   * bypass the cache. Default false, since one client could send every request to the origin: then only `no-cache` and `max-age=0` have an effect,
   * once per second and cache entry (see `mustValidate`), and the caller must not forward the three conditions.
   */
  readonly obeysRequests?: boolean;
  /**
   * Called after a write, to find the keys to invalidate: `reference` is its `Location`, its `Content-Location` or its own key; `key` is its key.
   * Returns the keys of the resource that the reference names, none for another origin (RFC 9111, 4.4).
   */
  readonly keysOf: (reference: string, key: string) => readonly string[];
  /** Whether the error of an origin fetch means that nothing was sent, so that a write has changed nothing. Default: never. */
  readonly isUnsent?: (error: unknown) => boolean;
  readonly observe?: (observation: CacheObservation) => void;
}

export interface SharedCache extends Hits {
  /**
   * Responds to a request of any method for which `findFresh` found nothing. Each head is passed to `addHeaders` before it is written.
   * @throws the error of the origin fetch, unless a stored response is sent instead; nothing is written then. It does not throw after the head was
   * written (a truncated response is destroyed) or after the client has disconnected.
   */
  respond(
    lookup: CacheLookup,
    response: ServerResponse,
    fetchers: OriginFetchers,
    addHeaders: AddHeaders,
  ): Promise<void>;
  /**
   * Invalidates stored responses: they are sent only after the origin has confirmed them. Responses to requests that were sent before are neither
   * stored nor joined any more.
   */
  invalidate(what: Invalidation): void;
  /** Removes all stored responses of an origin: each may be outdated. Responses to requests that were sent before are not stored either. */
  invalidateOrigin(origin: string): void;
  /** Marks the present for `CacheLookup.sentAfter`. Marks only grow. */
  mark(): number;
  /** Bytes and number of the stored responses. */
  readonly size: { readonly bytes: number; readonly entries: number };
  /** Aborts the coalesced and background requests in flight, and waits for their end. */
  close(): Promise<void>;
}

/** Limit of the remembered notes (invalidations and settled writes), and of the keys in `unshared`. Each takes some hundred bytes. */
const notesMax = 10_000;

export function createSharedCache(options: SharedCacheOptions): SharedCache {
  const { obeysRequests = false, isUnsent = () => false, observe = () => {} } = options;
  const { name, nowMs, backgroundMax, keysOf } = options;
  const store = new Store(options, ({ bytes }) => observe({ kind: "evicted", bytes }));
  const invalidationLog = new InvalidationLog({ notesMax });
  const sharedFetches = createSharedFetches({ invalidationLog, nowMs });
  const { invalidate, invalidateOrigin } = createInvalidate({ store, invalidationLog, observe });
  const reads = createReads({
    name,
    nowMs,
    observe,
    targetedFields: options.targetedFields,
    entryBytesMax: options.entryBytesMax,
    backgroundMax,
    collectingMax: 2 * backgroundMax,
    store,
    invalidationLog,
    sharedFetches,
    following: createFollowRules(options),
    rules: createRequestRules(obeysRequests),
    stale: createStaleRules(nowMs),
    unshared: createTtlSet({ entriesMax: notesMax, nowMs }),
  });
  const relayOptions = { name, observe };

  async function respondByMethod(
    lookup: CacheLookup,
    response: ServerResponse,
    fetchers: OriginFetchers,
    addHeaders: AddHeaders,
  ): Promise<void> {
    const { method = "" } = lookup.request;
    if (method === "GET" || method === "HEAD") return reads.read(lookup, response, fetchers, addHeaders);
    const request = { lookup, response, fetchers, addHeaders, forwarded: "method" } as const;
    if (isSafe(method)) return forwardPastCache(relayOptions, request);
    return forwardPastCache(relayOptions, {
      ...request,
      onResponse: (fetched) => settleWrite(lookup, fetched),
      onError: (error) => failWrite(error, lookup, response),
    });
  }

  /**
   * Called before the client gets the response to its write: with that response, the client must not read the state before the write any more.
   * @param fetched undefined for a write without a response, which the origin may have processed.
   */
  function settleWrite({ origin, key }: CacheLookup, fetched: OriginResponse | undefined): void {
    invalidationLog.noteWrite(origin);
    invalidate(invalidatedBy(fetched, key, keysOf));
  }

  /**
   * Ignores a write that was not sent: otherwise overload would end coalescing, which adds load. If the client has disconnected, invalidates only the
   * resource of its write: otherwise one client could keep all responses of the origin from being stored.
   */
  function failWrite(error: unknown, lookup: CacheLookup, response: ServerResponse): void {
    if (isUnsent(error)) return;
    // The write may have made every response of the origin outdated.
    if (!response.destroyed) invalidationLog.noteOrigin(lookup.origin);
    settleWrite(lookup, undefined);
  }

  return {
    findFresh: reads.findFresh,
    hasFresh: reads.hasFresh,
    async respond(lookup, response, fetchers, addHeaders) {
      try {
        await respondByMethod(lookup, response, fetchers, addHeaders);
      } catch (error) {
        if (response.destroyed) return;
        if (!response.headersSent) throw error;
        // The response is truncated: the connection is closed, so that the client does not take it for complete.
        if (!response.writableEnded) response.destroy();
      }
    },
    invalidate,
    invalidateOrigin,
    mark: () => invalidationLog.mark(),
    get size() {
      return { bytes: store.bytes, entries: store.entries };
    },
    close: () => sharedFetches.close(),
  };
}
