// Stage 4 of 5: run. A request to a subgraph, as the layers of a fetch pass it on.
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { TraceContext } from "@tributary/kit/http/trace-context";
import type { OperationIdentity } from "../../../observations.ts";
import type { GraphqlRequestRecord } from "../../../telemetry/request-record.ts";
import type { FetchProgress } from "./fetch-reports.ts";
import type { CachingCollector } from "../caching/response-caching.ts";
import type { SubgraphCache } from "../caching/subgraph-cache.ts";
import type { ForwardedHeaders } from "../../../subgraph-settings/request-headers.ts";
import type { CollectedHeaders } from "../../../subgraph-settings/response-headers.ts";
import type { ReadParts } from "./request-body.ts";
import type { Subgraph } from "./subgraph.ts";
import type { FetchResult } from "./subgraph-response.ts";

/**
 * Everything that a response may depend on, known before the first layer: layers compare it, and the innermost one sends it. No response depends on
 * the request id, the trace or the operation's name.
 */
export interface ReadIdentity {
  readonly service: string;
  readonly subgraph: Subgraph;
  /** JSON. */
  readonly body: string;
  /** Undefined also for a read whose result is for all callers. */
  readonly authorization: string | undefined;
  /** The client's headers by the rules of gateway.yaml; undefined without rules for this subgraph. */
  readonly forwarded: ForwardedHeaders | undefined;
  /** A read shares only the fetch of one with the same receipts, which was sent after the writes that they prove. */
  readonly receipts: string | undefined;
  /**
   * Mutations of this process to the subgraph that had settled when the read was sent: an earlier read may not contain a write whose response a client already has. The entity cache
   * compares it only while it hears of no changes by a feed.
   */
  readonly settledWrites: number;
  /** Changes that the subgraph's feed had reported; 0 without the entity cache. */
  readonly feedChanges: number;
}

export interface ClientRequest {
  readonly requestId: string;
  readonly identity: OperationIdentity;
  readonly trace: TraceContext;
  /** Undefined: no limit applies. */
  readonly callerKey: string | undefined;
  /** By its receipts. */
  readonly provenWrites: readonly ServiceWrite[];
  /** Positions of its mutations in the feeds of their services, for its receipt. */
  writes: ServiceWrite[] | undefined;
  /** Undefined if caches must not store the response. */
  readonly caching: CachingCollector | undefined;
  /** For the client's response; undefined while no subgraph response had any. */
  responseHeaders: CollectedHeaders | undefined;
  /** Undefined if metrics, traces and the access log are off. */
  readonly record: GraphqlRequestRecord | undefined;
}

export interface SubgraphRequest extends ReadIdentity {
  readonly scope: ClientRequest;
  /** When it was due, by `performance.now`. */
  readonly dueMs: number;
  readonly isMutation: boolean;
  /** In the plan. */
  readonly order: number;
  /** False within a mutation: its reads must see its writes. */
  readonly isShareable: boolean;
  /** Results of this client request that an equal request may repeat; undefined in a mutation, if no other request of the plan
   * has this text, and for a part of a request. */
  readonly repeats: Map<string, Promise<FetchResult>> | undefined;
  /** Of the body that the client request needs: the entity cache sends others. */
  readonly parts: ReadParts;
  /** For a request that is read through the entity cache. */
  readonly cache: SubgraphCache | undefined;
  /** `body` has the extension then (`withCacheMetadata`). */
  readonly wantsCaching: boolean;
  /** Undefined unless a developer asks for the plan. */
  readonly progress?: FetchProgress | undefined;
  /** Called by the innermost layer, once. */
  readonly onResult?: (result: FetchResult) => void;
}

/** Never rejects, except for bugs: failures are results too. */
export type Fetch = (request: SubgraphRequest, signal: AbortSignalLike) => Promise<FetchResult>;
