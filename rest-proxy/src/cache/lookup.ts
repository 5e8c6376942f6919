import type { IncomingMessage } from "node:http";
import type { OriginFetch } from "./origin.ts";

/** What is looked for. */
export interface CacheLookup {
  /** The origin server, by any name: a write to it may change every resource that it serves. */
  readonly origin: string;
  /** The canonical URI, as the caller spells it: two requests with the same key ask for the same resource. Never read or sorted here. */
  readonly key: string;
  /**
   * A request field as `Vary` compares it (RFC 9111, 4.1), by its name in lower case: normalised where the caller knows a normal form (`accept`,
   * `accept-encoding`), else as it came. Undefined when the request has none.
   */
  readonly selecting: (field: string) => string | undefined;
  readonly request: CacheableRequest;
}

/** What of a client's request is read here. */
export type CacheableRequest = Pick<IncomingMessage, "method" | "headers">;

/** How this one request reaches the origin. Made only where the store has no fresh answer. */
export interface OriginFetchers {
  /**
   * What the origin would get without a cache: names and values in turn, end-to-end only. The cache takes conditions away or adds its own. For a
   * request that others join they have to say nothing of this client that the key and `Vary` do not say.
   */
  readonly headers: readonly string[];
  /** For this client's own request, with its body; aborted with it. */
  readonly forClient: OriginFetch;
  /** For a request without a body, which may outlive the client: shared misses, refreshes in the background. May be called later. */
  readonly background: OriginFetch;
}
