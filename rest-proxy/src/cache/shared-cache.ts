/** A shared cache for HTTP responses (RFC 9111). It knows no route, no service and no body format. */
import type { ServerResponse } from "node:http";
import { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
import type { CacheLookup, CacheObservation, OriginResponse } from "./cache-request.ts";
import { createSharedFetches } from "./coalescing.ts";
import { createInvalidate, type Invalidation, invalidatedBy, isSafe } from "./invalidation.ts";
import { createReads, type Hits } from "./read.ts";
import { type CacheExchange, forwardPastCache } from "./write-response.ts";
import {
  boundedRequestRules,
  createFollowRules,
  createStaleRules,
  type FollowOptions,
  type RequestRules,
} from "./reuse-rules.ts";
import { Store } from "./store.ts";
import { createTtlSet } from "@tributary/kit/collections/ttl-set";

export interface SharedCacheOptions extends FollowOptions {
  /** The name in `Cache-Status` (RFC 9211, 2): a token. */
  readonly name: string;
  /** For all stored responses: bodies, headers, keys, and an estimate for objects. */
  readonly bytesMax: number;
  /** For one response. Bodies that are being collected are bounded by twice `backgroundMax` times this. */
  readonly entryBytesMax: number;
  readonly entriesMax: number;
  readonly variantsMax: number;
  /** Coalesced misses and background refreshes in flight. Beyond it, each client sends its own request. */
  readonly backgroundMax: number;
  /** With the default, `boundedRequestRules`, the caller must not forward conditions for the origin, such as `Range`. */
  readonly requestRules?: RequestRules;
  /** The keys to invalidate after a write: of the resource that `reference` names, none for another origin (RFC 9111, 4.4). */
  readonly keysOf: (reference: string, key: string) => readonly string[];
  readonly isUnsent?: (error: unknown) => boolean;
  readonly observe?: (observation: CacheObservation) => void;
}

export interface SharedCache extends Hits {
  /** @throws the error of the origin fetch, unless a stored response is sent instead; nothing is written then. */
  respond(request: CacheExchange): Promise<void>;
  /** Such responses are sent only after the origin has confirmed them. */
  invalidate(what: Invalidation): void;
  /** Removes all its responses: after a restored backup an ETag may identify another state, so a 304 proves nothing. */
  invalidateOrigin(origin: string): void;
  /** For `CacheLookup.sentAfter`. */
  mark(): number;
  readonly size: { readonly bytes: number; readonly entries: number };
  close(): Promise<void>;
}

/** Of notes and of keys in `unshared`, some hundred bytes each. */
const notesMax = 10_000;

export function createSharedCache(options: SharedCacheOptions): SharedCache {
  const { requestRules = boundedRequestRules, isUnsent = () => false, observe = () => {} } = options;
  const { name, nowMs, backgroundMax, keysOf } = options;
  const store = new Store(options, ({ bytes }) => observe({ kind: "evicted", bytes }));
  const invalidationLog = new InvalidationLog({ notesMax });
  const sharedFetches = createSharedFetches({ invalidationLog, nowMs });
  const { invalidate, invalidateOrigin } = createInvalidate({ store, invalidationLog, observe });
  const reads = createReads({
    name,
    nowMs,
    observe,
    entryBytesMax: options.entryBytesMax,
    backgroundMax,
    collectingMax: 2 * backgroundMax,
    store,
    invalidationLog,
    sharedFetches,
    following: createFollowRules(options),
    rules: requestRules,
    stale: createStaleRules(nowMs),
    unshared: createTtlSet({ entriesMax: notesMax, nowMs }),
  });
  const relayOptions = { name, observe };

  async function respondByMethod(request: CacheExchange): Promise<void> {
    const { lookup, response } = request;
    const { method = "" } = lookup.request;
    if (method === "GET" || method === "HEAD") return reads.read(request);
    const forwarded = "method";
    if (isSafe(method)) return forwardPastCache(relayOptions, { ...request, forwarded });
    return forwardPastCache(relayOptions, {
      ...request,
      forwarded,
      onResponse: (fetched) => settleWrite(lookup, fetched),
      onError: (error) => failWrite(error, lookup, response),
    });
  }

  function settleWrite({ origin, key }: CacheLookup, fetched: OriginResponse | undefined): void {
    invalidationLog.noteWrite(origin);
    invalidate(invalidatedBy(fetched, key, keysOf));
  }

  /**
   * A write that was not sent changes nothing: otherwise overload would end coalescing. If the client has disconnected, only the resource of its
   * write is invalidated: one client could keep all responses of the origin from being stored.
   */
  function failWrite(error: unknown, lookup: CacheLookup, response: ServerResponse): void {
    if (isUnsent(error)) return;
    if (!response.destroyed) invalidationLog.noteOrigin(lookup.origin);
    settleWrite(lookup, undefined);
  }

  return {
    findFresh: reads.findFresh,
    hasFresh: reads.hasFresh,
    async respond(request) {
      const { response } = request;
      try {
        await respondByMethod(request);
      } catch (error) {
        if (response.destroyed) return;
        if (!response.headersSent) throw error;
        // The client must not take it for complete.
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
