// Stage 4 of 5: run. Sends one request to a subgraph, or joins an equal one that is in flight, and parses its response. run.ts creates one
// `SendFetch` per client request.
import { readWritePosition } from "@tributary/kit/feed/position";
import { createTraceParent } from "@tributary/kit/http/trace-context";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { FetchObserver } from "../telemetry/fetch-observer.ts";
import type { EntityCache } from "./caching/entity-cache.ts";
import { type CacheableRead, readThroughCache } from "./cached-fetch.ts";
import type { FetchSharing } from "./fetch-sharing.ts";
import type { RequestScope } from "./request-scope.ts";
import { type HttpReply, type SubgraphClient, unsentFetch } from "./subgraph-client.ts";
import { type FetchResult, readSubgraphResponse } from "./subgraph-response.ts";

interface SubgraphRequest {
  readonly service: string;
  /** The request's JSON. */
  readonly body: string;
  readonly isMutation: boolean;
  /** Whether another request of the plan can turn out to be equal: the result is then kept until the end of the client request. */
  readonly mayRepeat: boolean;
  /** For a request that is read through the entity cache; undefined for all others. */
  readonly cacheable: CacheableRead | undefined;
}

export interface FetchOptions {
  readonly clientOf: (service: string) => SubgraphClient;
  /** Undefined if FETCH_SHARING is off: every read is sent. */
  readonly sharing: FetchSharing | undefined;
  /** Undefined if it is off for all subgraphs. */
  readonly entityCache: EntityCache | undefined;
  /** Undefined if metrics and traces are off. */
  readonly fetchObserver?: FetchObserver | undefined;
}

/** Never rejects: failures are results too. Sends nothing after the deadline of the client request. */
export type SendFetch = (request: SubgraphRequest) => Promise<FetchResult>;

/** A request to a subgraph as it is sent. */
interface SentRequest {
  readonly service: string;
  readonly body: string;
  readonly isMutation: boolean;
  readonly authorization: string | undefined;
  /** Whether the subgraph's caching metadata is read from the response; `body` has the extension that requests it. */
  readonly wantsCaching: boolean;
}

/**
 * The fetches of one client request.
 * @param isReadOnly false within a mutation: its reads must see its writes, so they are not shared, not cached, and not reused for an equal request.
 */
export function createFetch(o: FetchOptions, scope: RequestScope, isReadOnly: boolean): SendFetch {
  const { clientOf, sharing, fetchObserver, entityCache } = o;
  const { caching } = scope;
  const resultsByRequest = new Map<string, Promise<FetchResult>>();

  function send(request: SentRequest, signal: AbortSignalLike): Promise<FetchResult> {
    return post(clientOf(request.service), request, signal, scope, { fetchObserver, entityCache });
  }

  /**
   * @param changesCount known changes of the subgraph, besides this process's writes: a read joins no read that was sent before the last change.
   * 0 for a read that does not use the entity cache.
   */
  function share(
    request: SentRequest,
    changesCount: number,
    sendRead: (signal: AbortSignalLike) => Promise<FetchResult>,
  ): Promise<FetchResult> {
    if (!sharing) return sendRead(scope.signal);
    const { service, body, authorization } = request;
    const { receipts } = scope;
    // Both counts only grow, so the sum is the same at two times only if both counts are.
    const knownChanges = clientOf(service).writes.settled + changesCount;
    let isSender = false;
    const result = sharing.share({ service, body, authorization, knownChanges, receipts }, scope.signal, (signal) => {
      isSender = true;
      return sendRead(signal);
    });
    if (!isSender) fetchObserver?.join(service, scope.record, result);
    return result;
  }

  function read({ service, body }: Pick<SubgraphRequest, "service" | "body">, changesCount = 0): Promise<FetchResult> {
    const { authorization } = scope;
    const request = { service, body, authorization, isMutation: false, wantsCaching: caching !== undefined };
    return share(request, changesCount, (signal) => send(request, signal));
  }

  function readCached(service: string, cacheable: CacheableRead): Promise<FetchResult> {
    // cached-fetch.ts can send two requests: one without credentials, and one with them for results that depend on the caller. The deadline can
    // pass between them, and while the entity cache waits for a feed.
    const asUnsent = () => Promise.resolve(unsentFetch());
    return readThroughCache(cacheable, {
      scope,
      settledWrites: () => clientOf(service).writes.settled,
      readPublic(body, onResult) {
        if (scope.signal.aborted) return asUnsent();
        const request = createPublicRequest(service, body);
        return share(request, cacheable.cache.changesCount, async (signal) => {
          const result = await send(request, signal);
          onResult(result);
          return result;
        });
      },
      readOwn: (body) => (scope.signal.aborted ? asUnsent() : read({ service, body }, cacheable.cache.changesCount)),
    });
  }

  if (!caching) return fetch;
  // Caches may store the client's response, so every result needs caching metadata. A cacheable request is sent by `readPublic`, which adds the
  // extension itself; `readOwn` is not called, because such a client request has no credentials.
  return async (request) => {
    const result = await fetch(request.cacheable ? request : { ...request, body: withCacheMetadata(request.body) });
    caching.add(result.kind === "graphql" ? result.caching : undefined);
    return result;
  };

  function fetch(request: SubgraphRequest): Promise<FetchResult> {
    if (scope.signal.aborted) return Promise.resolve(unsentFetch());
    const { service, body, isMutation, cacheable } = request;
    if (!isReadOnly || isMutation) {
      const { authorization } = scope;
      return send({ service, body, isMutation, authorization, wantsCaching: caching !== undefined }, scope.signal);
    }
    const start = () => (cacheable ? readCached(service, cacheable) : read(request));
    if (!request.mayRepeat) return start();
    // JSON contains no raw line break, so the key is unambiguous.
    const key = `${service}\n${body}`;
    const known = resultsByRequest.get(key);
    if (known) return known;
    const result = start();
    resultsByRequest.set(key, result);
    return result;
  }
}

/** A read without credentials, for the entity cache. */
function createPublicRequest(service: string, body: string): SentRequest {
  return {
    service,
    body: withCacheMetadata(body),
    isMutation: false,
    authorization: undefined,
    wantsCaching: true,
  };
}

/** Adds the extension by which a service of this platform reports which results caches may store (kit/src/graphql/cache-metadata.ts). */
function withCacheMetadata(body: string): string {
  return `${body.slice(0, -1)},"extensions":{"cacheMetadata":true}}`;
}

async function post(
  client: SubgraphClient,
  { body, isMutation, authorization, wantsCaching }: SentRequest,
  signal: AbortSignalLike,
  scope: RequestScope,
  { fetchObserver, entityCache }: Pick<FetchOptions, "fetchObserver" | "entityCache">,
): Promise<FetchResult> {
  const isIdempotent = !isMutation;
  const observed = fetchObserver?.begin(client.name, scope.record);
  // Undefined for a fetch that is not traced. In a traced fetch, each attempt has its own `traceparent`.
  const traced = observed?.traced;
  const headers = listHeaders(scope, authorization, traced === undefined);
  const reply = await client.post(body, { headers, isIdempotent, signal, traced });
  if (isMutation && reply.kind === "response") addWrite(reply, client.name, scope, entityCache);
  const result = reply.kind === "response" ? readSubgraphResponse(reply, wantsCaching) : reply;
  observed?.end(result);
  return result;
}

function addWrite(
  reply: HttpReply & { readonly kind: "response" },
  service: string,
  scope: RequestScope,
  entityCache: EntityCache | undefined,
): void {
  const position = reply.writePosition === undefined ? undefined : readWritePosition(reply.writePosition);
  if (!position) return;
  (scope.writes ??= []).push({ service, ...position });
  entityCache?.of(service)?.noteWrite(position);
}

/**
 * The request headers, as a raw list. Of the client's headers only `authorization`, the request id and the trace are forwarded. Responses must
 * not depend on the request id and the trace: reads are shared without comparing them.
 * @param authorization undefined for a read whose result is for all callers.
 * @param sendsTrace false if each attempt has its own `traceparent`.
 */
function listHeaders(
  { requestId, trace }: RequestScope,
  authorization: string | undefined,
  sendsTrace: boolean,
): readonly string[] {
  const json = "application/json";
  const headers = ["accept", json, "content-type", json, "x-request-id", requestId];
  if (sendsTrace) headers.push("traceparent", createTraceParent(trace));
  if (authorization !== undefined) headers.push("authorization", authorization);
  return headers;
}
