// Stage 4 of 5: run. A request to a subgraph, as the layers of a fetch pass it on.
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { TraceContext } from "@tributary/kit/http/trace-context";
import type { GraphqlRequestRecord } from "../../telemetry/request-record.ts";
import type { CachingCollector } from "../caching/response-caching.ts";
import type { CacheableRead } from "./cache-slots.ts";
import type { FetchResult } from "./subgraph-response.ts";

/**
 * Everything that a response may depend on. It is known before the first layer: layers compare it, and the innermost one sends it. Of the forwarded
 * headers, only `authorization`: no response depends on the request id or the trace.
 */
export interface ReadIdentity {
  readonly service: string;
  /** The request's JSON. */
  readonly body: string;
  /** Undefined also for a read whose result is for all callers. */
  readonly authorization: string | undefined;
  /** The client's receipts: a read joins only a read with the same receipts, which was sent after the writes that they prove. */
  readonly receipts: string | undefined;
  /** The mutations of this process to the subgraph that had settled: an earlier read may not contain a write whose response a client already has. */
  readonly settledWrites: number;
  /** The changes that the subgraph's feed had reported; 0 without the entity cache. */
  readonly feedChanges: number;
}

/** The client request that a subgraph request belongs to. */
export interface ClientRequest {
  readonly requestId: string;
  readonly trace: TraceContext;
  /** The writes that its receipts prove. */
  readonly provenWrites: readonly ServiceWrite[];
  /** The positions of its mutations in the change feeds of their services, for its receipt. Undefined until a service has sent one. */
  writes: ServiceWrite[] | undefined;
  /** Collects what the subgraphs declare. Undefined if caches must not store the response: not a cacheable GET, or with a token (pipeline.ts). */
  readonly caching: CachingCollector | undefined;
  /** Undefined if metrics, traces and the access log are off. */
  readonly record: GraphqlRequestRecord | undefined;
}

export interface SubgraphRequest extends ReadIdentity {
  readonly scope: ClientRequest;
  readonly isMutation: boolean;
  /** False within a mutation: its reads must see its writes. */
  readonly isShareable: boolean;
  /** The results of those requests of the client request that may be equal; undefined if no other can be equal to this one. */
  readonly repeats: Map<string, Promise<FetchResult>> | undefined;
  /** For a request that is read through the entity cache. */
  readonly cacheable: CacheableRead | undefined;
  /** Whether the caching metadata is read from the response; `body` has the extension that requests it (`withCacheMetadata`). */
  readonly wantsCaching: boolean;
  /** Called by the innermost layer: once, also if other requests join this one. */
  readonly onResult?: (result: FetchResult) => void;
}

/** Never rejects, except for bugs: failures are results too. @param signal aborts the request. */
export type Fetch = (request: SubgraphRequest, signal: AbortSignalLike) => Promise<FetchResult>;
