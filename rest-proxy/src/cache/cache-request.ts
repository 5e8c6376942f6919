/** What the caller passes to the cache (the request to look up, and functions that fetch it from the origin), and what the cache reports. */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { InformationListener } from "@tributary/kit/upstream/transport";

export type CacheableRequest = Pick<IncomingMessage, "method" | "headers">;

export interface CacheLookup {
  /** Identifies the origin server: a write to it may change every resource that it serves. */
  readonly origin: string;
  /** The canonical URI: requests with the same key are for the same resource. The cache does not interpret it. */
  readonly key: string;
  /** Normalized as `Vary` compares it (RFC 9111, 4.1). Undefined for an absent header, and for one that must not distinguish variants. */
  readonly varyValueOf: (field: string) => string | undefined;
  /** Upper bound of the lifetime of a response without explicit freshness (RFC 9111, 4.2.2). Default 0: such a response is never fresh. */
  readonly heuristicSecondsMax?: number | undefined;
  readonly request: CacheableRequest;
  /** From `SharedCache.mark`: the client gets only responses that were requested after it. It knows of a change that the cache may not know. */
  readonly sentAfter?: number | undefined;
  /** The client gets no stale response, neither while it is refreshed nor instead of an error. */
  readonly forbidsStale?: boolean;
  /** Whatever the response says, it is neither stored nor sent to other clients: it may depend on what no `Vary` compares. */
  readonly isForClientOnly?: boolean;
}

export interface OriginFetchers {
  /** Alternating names and values, end-to-end only. Without what identifies this client, such as `Forwarded`, if others may get the response. */
  readonly headers: readonly string[];
  /** With the request's body, if it has one. A read may outlive the client: a coalesced miss, or a refresh in the background. */
  readonly fetch: OriginFetch;
  /** Whether `fetch` has sent nothing for a reason that may concern only its client: it says nothing about the origin. Default: never. */
  readonly isRefused?: (error: unknown) => boolean;
  /** Called when the client waits for the response to another client's request. */
  readonly onJoined?: () => void;
}

/** Rejects if there is no response. It may retry; the cache never does. */
export type OriginFetch = (request: OriginRequest) => Promise<OriginResponse>;

export interface OriginRequest {
  readonly method: string;
  readonly headers: readonly string[];
  /** Aborted if no client waits for the response any longer. */
  readonly signal: AbortSignalLike;
  /** For all clients, not for the one that caused it: a refresh. */
  readonly isBackground?: boolean | undefined;
  /** Gets the informational responses that precede the response (RFC 9110, 15.2). */
  readonly onInformation?: InformationListener | undefined;
}

export interface OriginResponse {
  readonly status: number;
  readonly headers: readonly string[];
  /** A truncated stream is destroyed with an error. */
  readonly body: Buffer | Readable;
}

/** Why a request was sent to the origin (RFC 9211, 2.2). */
export type ForwardReason = "bypass" | "method" | "uri-miss" | "vary-miss" | "request" | "stale";

/** `collapsed`: the response to another client's request. `refresh-skipped`: too many background requests were in flight. */
export type CacheObservation =
  | { readonly kind: "hit" | "miss" | "collapsed" | "revalidated" | "bypass" | "refresh-skipped" }
  | { readonly kind: "stale"; readonly because: "while-revalidate" | "if-error" }
  | { readonly kind: "invalidated"; readonly entries: number }
  | { readonly kind: "evicted"; readonly bytes: number }
  | { readonly kind: "refresh-failed"; readonly origin: string; readonly key: string; readonly cause: unknown };
