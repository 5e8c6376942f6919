import type { SubgraphLatencies } from "../graph/schemas.ts";
import type { LoadRequest } from "../load/connection.ts";
import type { LoadJob } from "../measure/measure-load.ts";

export interface Workload {
  readonly name: string;
  readonly title: string;
  readonly requests: readonly LoadRequest[];
  /** Whether only the contenders that name the workload take part in it. */
  readonly isOptIn?: boolean;
  /** Milliseconds by which each subgraph delays its responses: none by default. */
  readonly latenciesMs?: SubgraphLatencies;
  /** Sent once each before the warm-up, to fill the caches. Defaults to `requests`. */
  readonly primingRequests?: readonly LoadRequest[];
  /** Whether the requests have `If-None-Match` with the ETag of an earlier response, and the expected status is 304 instead of 200. */
  readonly isConditional?: boolean;
  readonly connections: number;
  readonly order: LoadJob["order"];
  /** The interval of a probe, `{__typename}` on a separate connection during the load; only workloads that measure pauses have one. */
  readonly probeEveryMs?: number;
  /** Whether the JSON body of a response with status 200 is right. */
  isRight(body: unknown, request: LoadRequest): boolean;
}
