// Stage 4 of 5: run. The scope of one client request: its properties that stages 4 and 5 need.
import type { DocumentCpu } from "../../document-cpu.ts";
import type { FetchReports } from "./fetch/fetch-reports.ts";
import type { OperationDeadline } from "./deadline.ts";
import type { ClientHeaders, ForwardedHeaders } from "../../subgraph-settings/request-headers.ts";
import type { Subgraph, Subgraphs } from "./fetch/subgraph.ts";
import type { ClientRequest } from "./fetch/subgraph-request.ts";

export interface RequestScope extends ClientRequest {
  readonly subgraphs: Subgraphs;
  /** Forwarded unchanged, unless the settings of a subgraph say otherwise. */
  readonly authorization: string | undefined;
  readonly client: ClientHeaders;
  /** Resolved with the first fetch of each subgraph that has rules. */
  forwarded: Map<Subgraph, ForwardedHeaders> | undefined;
  /** As the client sent them. */
  readonly receipts: string | undefined;
  /** Without a token, or with one that this process has verified: only then a cached result may be used. */
  readonly mayUseCachedResults: boolean;
  /** Undefined unless a developer asks for the plan. */
  readonly fetchReports: FetchReports | undefined;
  /** No fetch is sent after its signal. */
  readonly deadline: Pick<OperationDeadline, "signal">;
  readonly cpu: DocumentCpu;
}

/** Undefined without rules for the subgraph. */
export function forwardedTo(subgraph: Subgraph, scope: RequestScope): ForwardedHeaders | undefined {
  const rules = subgraph.settings.requestHeaders;
  if (!rules) return undefined;
  const known = scope.forwarded?.get(subgraph);
  if (known) return known;
  const forwarded = rules.resolve(scope.client);
  (scope.forwarded ??= new Map()).set(subgraph, forwarded);
  return forwarded;
}
