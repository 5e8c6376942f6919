import type { ServerResponse } from "node:http";
import { createAsking } from "./asking.ts";
import type { CacheObservation } from "./cache-observation.ts";
import { createFlights } from "./flights.ts";
import { createInvalidate, invalidatedBy, isSafe } from "./invalidating.ts";
import { createInvalidationLog } from "./invalidation-log.ts";
import type { CacheLookup, OriginFetchers } from "./lookup.ts";
import { createMarks } from "./marks.ts";
import type { OriginResponse } from "./origin.ts";
import { passOn } from "./passing.ts";
import { createReading, type Hits } from "./reading.ts";
import { createRequestRules } from "./request-rules.ts";
import { unchangedHeaders, type CachedResponse, type CompleteHeaders } from "./sending.ts";
import { createStaleRules } from "./stale.ts";
import { Store } from "./store.ts";

export { unchangedHeaders };
export type { CachedResponse, CacheLookup, CacheObservation, OriginFetchers };

export interface SharedCacheOptions {
  /** The name in `Cache-Status` (RFC 9211, 2): a token. */
  readonly name: string;
  /** For everything that is stored: bodies, headers, keys and a lump for what objects cost. */
  readonly bytesMax: number;
  /** For one answer; a longer one passes through. Bytes on their way into the store are bounded by twice `backgroundMax` times this. */
  readonly entryBytesMax: number;
  /** Answers stored at once. */
  readonly entriesMax: number;
  /** Answers under one key that differ by `Vary`. */
  readonly variantsMax: number;
  /** Shared requests and refreshes under way at once. Beyond it nothing is refreshed early, and each client's request goes its own way. */
  readonly backgroundMax: number;
  /** Fields that outrank `Cache-Control`, the most important first (RFC 9213, 2.2), in lower case: `cdn-cache-control`. */
  readonly targetedFields: readonly string[];
  /** The longest that an answer without any word about its freshness is believed (RFC 9111, 4.2.2). Default 0: not at all. */
  readonly heuristicSecondsMax?: number;
  /**
   * Whether a client's `Cache-Control` counts in full (RFC 9111, 5.2.1: it is advice), and `Range`, `If-Match` and `If-Unmodified-Since` make a read
   * bypass the cache. Default false: one client could send every request to the origin. Of all these, `no-cache` and `max-age=0` then have an
   * effect, once per second and cache entry (see `mustValidate`); the caller forwards none of the three conditions.
   */
  readonly obeysRequests?: boolean;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /**
   * The keys that a URI reference stands for: that of `Location`, `Content-Location`, or `key` itself, which an unsafe request has just changed.
   * None for another origin's (RFC 9111, 4.4).
   */
  readonly keysOf: (reference: string, key: string) => readonly string[];
  /** Whether the error of a way to the origin means that nothing was sent there. Default: never. */
  readonly isUnsent?: (error: unknown) => boolean;
  readonly observe?: (observation: CacheObservation) => void;
}

export interface SharedCache extends Hits {
  /**
   * Everything else, of any method. Writes the whole answer; each head goes through `complete` first.
   * @throws what the way to the origin threw, when nothing stored may stand in. Nothing is written then. An answer that breaks off once its head
   * is out is cut: the response is destroyed.
   */
  respond(
    lookup: CacheLookup,
    response: ServerResponse,
    ways: OriginFetchers,
    complete: CompleteHeaders,
  ): Promise<void>;
  /** Forgets at once; what was asked for before this is neither stored nor joined any more. */
  invalidate(what: { readonly keys?: readonly string[]; readonly groups?: readonly string[] }): void;
  /** What is stored now. */
  readonly size: { readonly bytes: number; readonly entries: number };
  /** Breaks off what is under way without a client, and waits for it. */
  close(): Promise<void>;
}

/** Invalidations that are remembered, and keys that cannot be shared: some hundred bytes each. */
const notesMax = 10_000;

/** A shared cache (RFC 9111) from its parts. It knows no route, no service and no body. */
export function createSharedCache(options: SharedCacheOptions): SharedCache {
  const { heuristicSecondsMax = 0, obeysRequests = false, isUnsent = () => false, observe = () => {} } = options;
  const { nowMs, backgroundMax, keysOf } = options;
  const o = { ...options, heuristicSecondsMax, observe };
  // What is kept, what is under way, and what neither may be any more.
  const store = new Store(o, ({ bytes }) => observe({ kind: "evicted", bytes }));
  const log = createInvalidationLog({ notesMax });
  const flights = createFlights({ log, nowMs });
  const invalidate = createInvalidate({ store, flights, log, observe });
  // The way of a read.
  const reading = createReading({
    ...{ ...o, store, log, flights, collectingMax: 2 * backgroundMax },
    rules: createRequestRules(obeysRequests),
    stale: createStaleRules(nowMs),
    unshared: createMarks({ marksMax: notesMax, nowMs }),
    ask: createAsking({ ...o, store, log }),
  });

  async function answer(
    lookup: CacheLookup,
    response: ServerResponse,
    ways: OriginFetchers,
    complete: CompleteHeaders,
  ) {
    const { method = "" } = lookup.request;
    if (method === "GET" || method === "HEAD") return reading.read(lookup, response, ways, complete);
    const passed = { lookup, response, ways, complete, forwarded: "method" } as const;
    if (isSafe(method)) return passOn(o, passed);
    return passOn(o, {
      ...passed,
      onAnswer: (answer) => settleWrite(lookup, answer),
      onError: (error) => failWrite(error, lookup, response),
    });
  }

  /** Before the client has the response to its write: from then on it must not read what was before the write. */
  function settleWrite({ origin, key }: CacheLookup, answer: OriginResponse | undefined): void {
    log.noteWrite(origin);
    invalidate(invalidatedBy(answer, key, keysOf));
  }

  /**
   * Writes that were not sent are ignored: under overload they would end coalescing, which adds load. A write whose client has disconnected does
   * not count as lost: one client could keep responses from being stored.
   */
  function failWrite(error: unknown, lookup: CacheLookup, response: ServerResponse): void {
    if (isUnsent(error)) return;
    if (!response.destroyed) log.noteLostWrite(lookup.origin);
    settleWrite(lookup, undefined);
  }

  return {
    findFresh: reading.findFresh,
    async respond(lookup, response, ways, complete) {
      try {
        await answer(lookup, response, ways, complete);
      } catch (error) {
        // Whoever is gone needs no answer, and what broke off on its way cannot be mended.
        if (response.destroyed) return;
        if (!response.headersSent) throw error;
        if (!response.writableEnded) response.destroy();
      }
    },
    invalidate,
    get size() {
      const { bytes, entries } = store;
      return { bytes, entries };
    },
    close: () => flights.close(),
  };
}
