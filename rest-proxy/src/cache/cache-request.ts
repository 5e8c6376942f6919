/** What a caller gives to the cache: the request to look up and the ways to fetch it from the origin. And what the cache reports. */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";

/** The part of a client's request that the cache reads. */
export type CacheableRequest = Pick<IncomingMessage, "method" | "headers">;

/** What to look up. */
export interface CacheLookup {
  /** Identifies the origin server: a write to it may change every resource that it serves. */
  readonly origin: string;
  /** The canonical URI: requests with the same key are for the same resource. The cache does not interpret it. */
  readonly key: string;
  /**
   * A request header as `Vary` compares it (RFC 9111, 4.1), by its name in lower case: normalized where the caller has a normal form (`accept`,
   * `accept-encoding`), else as it was sent. Undefined if the request does not have it.
   */
  readonly selecting: (field: string) => string | undefined;
  readonly request: CacheableRequest;
}

/** Fetches one request from its origin. Created only if the cache has no fresh response. */
export interface OriginFetchers {
  /**
   * The request headers without a cache: alternating names and values, end-to-end only. The cache removes conditions or adds its own. If others
   * may join the request, they contain nothing about this client beyond the key and the `Vary` headers.
   */
  readonly headers: readonly string[];
  /** For this client's own request, with its body; aborted if the client disconnects. */
  readonly forClient: OriginFetch;
  /** For a request without a body that may outlive the client: coalesced misses and background refreshes. May be called later. */
  readonly background: OriginFetch;
}

/** Rejects if there is no response. It may retry; the cache calls it once. */
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
export type Forwarded = "bypass" | "method" | "uri-miss" | "vary-miss" | "request" | "stale" | "partial";

/** What the cache did, for metrics and logs. */
export type CacheObservation =
  | { readonly kind: "hit" | "not-modified" | "miss" | "collapsed" | "revalidated" | "bypass" | "refresh-skipped" }
  | { readonly kind: "stale"; readonly because: "while-revalidate" | "if-error" }
  | { readonly kind: "invalidated"; readonly entries: number }
  | { readonly kind: "evicted"; readonly bytes: number }
  | { readonly kind: "refresh-failed"; readonly origin: string; readonly key: string; readonly cause: unknown };
