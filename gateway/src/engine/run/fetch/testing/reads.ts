import { readUnsampledTrace } from "@tributary/kit/http/trace-context";
import type { ClientRequest, SubgraphRequest } from "../subgraph-request.ts";
import { toSubgraph } from "./subgraphs.ts";
import type { FetchResult } from "../subgraph-response.ts";

const subgraph = toSubgraph();

/** A shareable read of a client without a token. */
export function toRead(body: string, scope: Partial<ClientRequest> = {}): SubgraphRequest {
  return {
    service: "notes",
    subgraph,
    body,
    authorization: undefined,
    forwarded: undefined,
    receipts: undefined,
    settledWrites: 0,
    feedChanges: 0,
    scope: {
      requestId: "1",
      identity: { operationName: undefined, documentHash: "" },
      trace: readUnsampledTrace(undefined),
      callerKey: undefined,
      provenWrites: [],
      writes: undefined,
      caching: undefined,
      responseHeaders: undefined,
      record: undefined,
      ...scope,
    },
    dueMs: 0,
    isMutation: false,
    order: 0,
    isShareable: true,
    repeats: undefined,
    parts: { head: body, responseForm: undefined, variables: "", lists: [] },
    cache: undefined,
    wantsCaching: false,
  };
}

export function toResult(data: Record<string, unknown>): Extract<FetchResult, { kind: "graphql" }> {
  return { kind: "graphql", data, errors: [], replica: "a" };
}
