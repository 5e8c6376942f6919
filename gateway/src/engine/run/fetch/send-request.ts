// Stage 4 of 5: run. The innermost layer of a fetch.
import { readWritePosition } from "@tributary/kit/feed/position";
import { AbortSource, type AbortSignalLike } from "@tributary/kit/http/abort-source";
import { createTraceParent } from "@tributary/kit/http/trace-context";
import type { FetchObserver } from "../../../telemetry/fetch-observer.ts";
import type { EntityCache } from "../caching/entity-cache.ts";
import type { HeaderValues } from "../../../subgraph-settings/header-names.ts";
import { acceptedCodings } from "./decompress-response.ts";
import { CollectedHeaders } from "../../../subgraph-settings/response-headers.ts";
import type { ClientRequest, Fetch, SubgraphRequest } from "./subgraph-request.ts";
import type { AbortReason } from "./subgraph-client.ts";
import { readSubgraphResponse } from "./subgraph-response.ts";

export interface SendOptions {
  readonly entityCache?: EntityCache | undefined;
  readonly fetchObserver?: FetchObserver | undefined;
}

export function createSend({ entityCache, fetchObserver }: SendOptions): Fetch {
  return async (request, signal) => {
    const { service, subgraph, body, isMutation, scope, progress } = request;
    const observed = fetchObserver?.begin(service, scope.record);
    // In a traced fetch, each attempt has its own `traceparent`.
    const traced = observed?.traced;
    const headers = listHeaders(request, traced === undefined);
    const { sendsOperationNames } = subgraph.settings;
    const named = sendsOperationNames ? addOperationName(body, request) : body;
    const sendSignal = isMutation ? withoutDisconnect(signal) : signal;
    if (progress) progress.requests++;
    const reply = await subgraph.client.post(named, {
      headers,
      isIdempotent: !isMutation,
      signal: sendSignal,
      caller: scope.callerKey,
      traced,
      progress,
    });
    if (progress && reply.kind === "response") progress.bytes += reply.body.length;
    if (isMutation && reply.kind !== "abandoned") addWrite(reply.writePosition, service, scope, entityCache);
    if (reply.kind === "response") addResponseHeaders(reply.headers, request);
    const { errors } = subgraph.settings;
    const { wantsCaching, parts } = request;
    const readOptions = { responseForm: parts.responseForm, wantsCaching };
    const result = reply.kind === "response" ? readSubgraphResponse(reply, errors, readOptions) : reply;
    observed?.end(result);
    request.onResult?.(result);
    return result;
  };
}

/** A mutation in flight is completed although its client has disconnected, until the deadline of the request or the timeout of the subgraph. */
function withoutDisconnect(signal: AbortSignalLike): AbortSignalLike {
  const source = new AbortSource(signal.endsAtMs);
  signal.addEventListener("abort", () => {
    const abort = () => source.abort(signal.reason);
    const remainingMs = Math.max(0, source.endsAtMs - performance.now());
    if (signal.reason !== ("disconnected" satisfies AbortReason)) abort();
    else if (remainingMs < Infinity) setTimeout(abort, remainingMs).unref();
  });
  return source;
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

function addResponseHeaders(headers: HeaderValues, { subgraph, isMutation, order, scope }: SubgraphRequest): void {
  const rules = subgraph.settings.responseHeaders;
  if (!rules) return;
  const propagated = rules.read(headers, isMutation);
  if (propagated.length === 0) return;
  (scope.responseHeaders ??= new CollectedHeaders()).add(order, propagated);
  // They may be for this client only.
  scope.caching?.add(undefined);
}

const bodyStart = '{"query":"';

/** For the subgraph's traces. Here instead of in the plan: fetches of operations with different names are shared. */
function addOperationName(body: string, { service, order, scope }: SubgraphRequest): string {
  const { operationName } = scope.identity;
  if (operationName === undefined) return body;
  const name = `${operationName}__${service.replaceAll(/\W/g, "_")}__${order}`;
  // Planned operations have no name.
  const [, type = "", rest = ""] = /^(query|mutation|)(.*)$/s.exec(body.slice(bodyStart.length)) ?? [];
  return `{"operationName":"${name}","query":"${type || "query"} ${name}${rest}`;
}

/** Responses must not depend on the request id and the trace: reads are shared without comparing them. */
function listHeaders(
  { scope: { requestId, trace }, subgraph: { settings }, authorization, forwarded }: SubgraphRequest,
  sendsTrace: boolean,
): readonly string[] {
  const json = "application/json";
  const headers = ["accept", json, "content-type", json, "x-request-id", requestId];
  if (sendsTrace) headers.push("traceparent", createTraceParent(trace));
  if (authorization !== undefined) headers.push("authorization", authorization);
  if (settings.authorization !== undefined) headers.push("authorization", settings.authorization);
  if (settings.wantsCompression) headers.push("accept-encoding", acceptedCodings);
  if (forwarded) headers.push(...forwarded.list);
  return headers;
}
