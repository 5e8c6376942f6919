// Stage 4 of 5: run. Sends one request to a subgraph, or joins an equal one that is in flight, and parses its response. run.ts creates one
// `SendFetch` per client request.
import { readWritePosition } from "@tributary/kit/feed/position";
import { createTraceParent } from "@tributary/kit/http/trace-context";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { FetchObserver } from "../telemetry/fetch-observer.ts";
import type { FetchSharing } from "./fetch-sharing.ts";
import type { RequestScope } from "./request-scope.ts";
import { abortedFetch, type HttpReply, type SubgraphClient } from "./subgraph-client.ts";
import { type FetchResult, readSubgraphResponse } from "./subgraph-response.ts";

interface SubgraphRequest {
  readonly service: string;
  /** The request's JSON. */
  readonly body: string;
  readonly isMutation: boolean;
  /** Whether another request of the plan can turn out to be equal: the result is then kept until the end of the client request. */
  readonly mayRepeat: boolean;
}

export interface FetchOptions {
  readonly clientOf: (service: string) => SubgraphClient;
  /** Undefined if FETCH_SHARING is off: every read is sent. */
  readonly sharing: FetchSharing | undefined;
  /** Undefined if metrics and traces are off. */
  readonly fetchObserver?: FetchObserver | undefined;
}

/** Never rejects: failures are results too. Sends nothing after the deadline of the client request. */
export type SendFetch = (request: SubgraphRequest) => Promise<FetchResult>;

/**
 * The fetches of one client request.
 * @param isReadOnly false within a mutation: its reads must see its writes, so they are not shared, and not reused for an equal request.
 */
export function createFetch(o: FetchOptions, scope: RequestScope, isReadOnly: boolean): SendFetch {
  const { clientOf, sharing, fetchObserver } = o;
  const resultsByRequest = new Map<string, Promise<FetchResult>>();

  function send({ service, body, isMutation }: SubgraphRequest, signal: AbortSignalLike): Promise<FetchResult> {
    return post(clientOf(service), { body, isIdempotent: !isMutation, signal }, scope, fetchObserver);
  }

  function read(request: SubgraphRequest): Promise<FetchResult> {
    if (!sharing) return send(request, scope.signal);
    const { service, body } = request;
    const { authorization, receipts } = scope;
    const settledWrites = clientOf(service).writes.settled;
    let isSender = false;
    const result = sharing.share({ service, body, authorization, settledWrites, receipts }, scope.signal, (signal) => {
      isSender = true;
      return send(request, signal);
    });
    if (!isSender) fetchObserver?.join(service, scope.record, result);
    return result;
  }

  const { caching } = scope;
  if (caching) {
    return async ({ body, ...request }) => {
      const result = await fetch({ ...request, body: `${body.slice(0, -1)},"extensions":{"cacheMetadata":true}}` });
      caching.add(result.kind === "graphql" ? result.caching : undefined);
      return result;
    };
  }
  return fetch;

  function fetch(request: SubgraphRequest): Promise<FetchResult> {
    if (scope.signal.aborted) return Promise.resolve(abortedFetch(scope.signal.reason));
    if (!isReadOnly || request.isMutation) return send(request, scope.signal);
    if (!request.mayRepeat) return read(request);
    // JSON contains no raw line break, so the key is unambiguous.
    const key = `${request.service}\n${request.body}`;
    const known = resultsByRequest.get(key);
    if (known) return known;
    const result = read(request);
    resultsByRequest.set(key, result);
    return result;
  }
}

interface HttpRequest {
  readonly body: string;
  readonly isIdempotent: boolean;
  readonly signal: AbortSignalLike;
}

async function post(
  client: SubgraphClient,
  { body, isIdempotent, signal }: HttpRequest,
  scope: RequestScope,
  fetches: FetchObserver | undefined,
): Promise<FetchResult> {
  const fetch = fetches?.begin(client.name, scope.record);
  const traced = fetch?.traced;
  const headers = listHeaders(scope, traced === undefined);
  const reply = await client.post(body, { headers, isIdempotent, signal, traced });
  if (!isIdempotent && reply.kind === "response") addWrite(reply, client.name, scope);
  const result = reply.kind === "response" ? readSubgraphResponse(reply, scope.caching !== undefined) : reply;
  fetch?.end(result);
  return result;
}

function addWrite(reply: HttpReply & { readonly kind: "response" }, service: string, scope: RequestScope): void {
  const position = reply.writePosition === undefined ? undefined : readWritePosition(reply.writePosition);
  if (position) (scope.writes ??= []).push({ service, ...position });
}

/**
 * The request headers, as a raw list. Of the client's headers only `authorization`, the request id and the trace are forwarded. Responses must
 * not depend on the last two: reads are shared without comparing them.
 * @param sendsTrace false if each attempt has its own `traceparent`.
 */
function listHeaders({ requestId, trace, authorization }: RequestScope, sendsTrace: boolean): readonly string[] {
  const json = "application/json";
  const list = ["accept", json, "content-type", json, "x-request-id", requestId];
  if (sendsTrace) list.push("traceparent", createTraceParent(trace));
  if (authorization !== undefined) list.push("authorization", authorization);
  return list;
}
