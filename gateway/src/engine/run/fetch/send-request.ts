// Stage 4 of 5: run. The innermost layer of a fetch.
import { readWritePosition } from "@tributary/kit/feed/position";
import { createTraceParent } from "@tributary/kit/http/trace-context";
import type { FetchObserver } from "../../../telemetry/fetch-observer.ts";
import type { EntityCache } from "../caching/entity-cache.ts";
import type { ClientRequest, Fetch } from "./subgraph-request.ts";
import type { SubgraphClient } from "./subgraph-client.ts";
import { readSubgraphResponse } from "./subgraph-response.ts";

export interface SendOptions {
  readonly clientOf: (service: string) => SubgraphClient;
  readonly entityCache?: EntityCache | undefined;
  readonly fetchObserver?: FetchObserver | undefined;
}

export function createSend({ clientOf, entityCache, fetchObserver }: SendOptions): Fetch {
  return async (request, signal) => {
    const { service, body, isMutation, authorization, scope } = request;
    const observed = fetchObserver?.begin(service, scope.record);
    // In a traced fetch, each attempt has its own `traceparent`.
    const traced = observed?.traced;
    const headers = listHeaders(scope, authorization, traced === undefined);
    const reply = await clientOf(service).post(body, { headers, isIdempotent: !isMutation, signal, traced });
    if (isMutation && reply.kind === "response") addWrite(reply.writePosition, service, scope, entityCache);
    const result = reply.kind === "response" ? readSubgraphResponse(reply, request.wantsCaching) : reply;
    observed?.end(result);
    request.onResult?.(result);
    return result;
  };
}

function addWrite(
  writePosition: string | undefined,
  service: string,
  scope: ClientRequest,
  entityCache: EntityCache | undefined,
): void {
  const position = writePosition === undefined ? undefined : readWritePosition(writePosition);
  if (!position) return;
  (scope.writes ??= []).push({ service, ...position });
  entityCache?.of(service)?.noteWrite(position);
}

/** Responses must not depend on the request id and the trace: reads are shared without comparing them. */
function listHeaders(
  { requestId, trace }: ClientRequest,
  authorization: string | undefined,
  sendsTrace: boolean,
): readonly string[] {
  const json = "application/json";
  const headers = ["accept", json, "content-type", json, "x-request-id", requestId];
  if (sendsTrace) headers.push("traceparent", createTraceParent(trace));
  if (authorization !== undefined) headers.push("authorization", authorization);
  return headers;
}
