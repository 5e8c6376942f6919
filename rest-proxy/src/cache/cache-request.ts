/** What the caller passes to the cache (the request to look up, and functions that fetch it from the origin), and what the cache reports. */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";

/** The part of a client's request that the cache reads. */
export type CacheableRequest = Pick<IncomingMessage, "method" | "headers">;

/** A client's request, as the cache looks it up. */
export interface CacheLookup {
  /** Identifies the origin server: a write to it may change every resource that it serves. */
  readonly origin: string;
  /** The canonical URI: requests with the same key are for the same resource. The cache does not interpret it. */
  readonly key: string;
  /**
   * The value of a request header as `Vary` compares it (RFC 9111, 4.1), by its name in lower case: normalized if the caller has a normal form for
   * it, else as it was sent. Undefined if the request does not have the header, or if the caller does not let it distinguish variants.
   */
  readonly varyValueOf: (field: string) => string | undefined;
  /**
   * Upper bound, in seconds, of the lifetime of a response without explicit freshness (RFC 9111, 4.2.2). Default 0: such a response is never fresh.
   */
  readonly heuristicSecondsMax?: number | undefined;
  readonly request: CacheableRequest;
  /**
   * A result of `SharedCache.mark`. The client knows of a change that this cache may not know: it gets only responses that were requested from
   * the origin after that call. Default: it may get responses that were requested earlier.
   */
  readonly sentAfter?: number | undefined;
  /** The client gets no stale response, neither while it is refreshed nor instead of an error. */
  readonly forbidsStale?: boolean;
}

/** How the cache fetches one client's request from its origin. The caller creates it only after `findFresh` found nothing. */
export interface OriginFetchers {
  /**
   * The headers that the origin would get without a cache: alternating names and values, end-to-end only. The cache removes conditions or adds its
   * own. If other clients may get the response, the caller leaves out what identifies this client, for example `Forwarded`.
   */
  readonly headers: readonly string[];
  /** For this client's own request, with its body. Its signal is aborted if the client disconnects. */
  readonly forClient: OriginFetch;
  /** For a request without a body that may outlive the client: coalesced misses and background refreshes. */
  readonly background: OriginFetch;
}

/** Sends one request to the origin. Rejects if there is no response. It may retry; the cache never calls it again for the same request. */
export type OriginFetch = (request: OriginRequest) => Promise<OriginResponse>;

/** A request of the cache to the origin. The fetcher itself knows URL and body. */
export interface OriginRequest {
  readonly method: string;
  /** `OriginFetchers.headers`, with the conditions that the cache needs. */
  readonly headers: readonly string[];
  /** Aborted if no client waits for the response any longer. */
  readonly signal: AbortSignalLike;
}

/** The final response (never 1xx), of any status. */
export interface OriginResponse {
  readonly status: number;
  /** Alternating names and values as received, without hop-by-hop headers. */
  readonly headers: readonly string[];
  /** The whole body, or a stream that the cache reads to its end or destroys. A truncated stream is destroyed with an error. */
  readonly body: Buffer | Readable;
}

/** Why a request was sent to the origin (RFC 9211, 2.2). */
export type ForwardReason = "bypass" | "method" | "uri-miss" | "vary-miss" | "request" | "stale";

/**
 * What the cache did, for metrics and logs. `collapsed`: the client got the response to another client's request (`coalescing.ts`). `bypass`: the
 * response was relayed past the cache. `refresh-skipped`: too many background requests were in flight.
 */
export type CacheObservation =
  | { readonly kind: "hit" | "miss" | "collapsed" | "revalidated" | "bypass" | "refresh-skipped" }
  | { readonly kind: "stale"; readonly because: "while-revalidate" | "if-error" }
  | { readonly kind: "invalidated"; readonly entries: number }
  | { readonly kind: "evicted"; readonly bytes: number }
  | { readonly kind: "refresh-failed"; readonly origin: string; readonly key: string; readonly cause: unknown };
