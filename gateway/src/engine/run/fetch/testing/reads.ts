import { readUnsampledTrace } from "@tributary/kit/http/trace-context";
import type { ClientRequest, SubgraphRequest } from "../subgraph-request.ts";
import type { FetchResult } from "../subgraph-response.ts";

/** A shareable read of a client without a token. */
export function toRead(body: string, scope: Partial<ClientRequest> = {}): SubgraphRequest {
  return {
    service: "notes",
    body,
    authorization: undefined,
    receipts: undefined,
    settledWrites: 0,
    feedChanges: 0,
    scope: {
      requestId: "1",
      trace: readUnsampledTrace(undefined),
      provenWrites: [],
      writes: undefined,
      caching: undefined,
      record: undefined,
      ...scope,
    },
    isMutation: false,
    isShareable: true,
    repeats: undefined,
    cacheable: undefined,
    wantsCaching: false,
  };
}

export function toResult(data: Record<string, unknown>): Extract<FetchResult, { kind: "graphql" }> {
  return { kind: "graphql", data, errors: [], replica: "a" };
}
