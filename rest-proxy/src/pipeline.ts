/**
 * READ FIRST: the life of a request, through five stages. `stages.ts` creates their parts.
 *
 *   admit     CORS, caller (token), rate limit, request target, Host    rejects with 400, 401, 429, 503
 *   route     documents, version, OPTIONS, route, query                 rejects with 400, 404, 405, 406, 410
 *   cache     a fresh cached response is sent; else the cache fetches
 *   forward   body (admit/body.ts), request headers, a replica          rejects with 400, 408, 413, 415, 431, 502 to 504
 *   respond   proxy headers; a problem document for every error
 *
 * Input that is not valid HTTP never gets here: `admit/connections.ts` rejects it (400, 408, 413, 431).
 * To follow a cache miss, read this file, `cache/read.ts` and `cache/origin-fetch.ts`.
 */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { lowerByPriorityHeader } from "@tributary/kit/admission/priority";
import { DeadlinePassed } from "@tributary/kit/http/abort-source";
import type { ContentCoding } from "@tributary/kit/http/accept";
import type { Cors } from "@tributary/kit/http/cors";
import { deadlineHeader, readClientDeadline } from "@tributary/kit/http/deadline";
import { findHeader } from "@tributary/kit/http/raw-headers";
import type { Caller } from "@tributary/kit/caller/caller";
import { hasBody } from "./admit/body.ts";
import { describeRequest, type Exchange } from "./admit/exchange.ts";
import { readHost, readTarget, type Target } from "./admit/request-target.ts";
import type { CacheLookup, OriginFetch, OriginResponse } from "./cache/cache-request.ts";
import { ClientDisconnected, ServiceFailure, UnreadResponse, asAppError, isRefused } from "./errors/service-failure.ts";
import type { ServiceRequest } from "./forward/client.ts";
import { requireFittingHeaders, toServiceHeaders } from "./forward/headers.ts";
import { type RequestReceipts, replaceWritePosition } from "./freshness/receipts.ts";
import { compressReads } from "./resource-cache/compression.ts";
import { createLookup } from "./resource-cache/resource-cache.ts";
import { createInformationForwarder } from "./respond/information.ts";
import {
  isForeignError,
  isUnstarted,
  prepareOverloaded,
  replaceForeignError,
  respondWithProblem,
} from "./respond/problems.ts";
import { addProxyHeaders } from "./respond/proxy-headers.ts";
import { closeResponseIfUnread, respondFromCache, respondToOptions, respondWithDocument } from "./respond/respond.ts";
import { readQuery } from "./route/query.ts";
import type { CachedRoute } from "./route/route-cache.ts";
import { toServiceType } from "./route/request-type.ts";
import { clientPath, selectRoute, upstreamPath } from "./route/route-table.ts";
import type { Route } from "./route/routes.ts";
import { addContentLocation, addVersionHeaders } from "./route/version.ts";
import type { Stages } from "./stages.ts";
import type { Observe } from "./telemetry/observations.ts";
import { recordCacheStatus } from "./telemetry/request-record.ts";

interface AdmittedRequest {
  readonly caller: Caller;
  readonly target: Target;
  readonly host: string | undefined;
  readonly cachedRoute: CachedRoute | undefined;
}

interface RoutedRequest {
  readonly caller: Caller;
  readonly host: string | undefined;
  readonly route: Route;
  readonly version: number;
  /** The canonical version, path and query: the cache key. */
  readonly resource: string;
  /** The route to store in the route cache; undefined if it was found there. */
  readonly uncachedRoute: CachedRoute | undefined;
}

/** The cache has no fresh response for it. */
interface UncachedRequest extends Exchange, RoutedRequest {
  readonly coding: ContentCoding | undefined;
  readonly lookup: CacheLookup;
  readonly receipts: RequestReceipts;
}

/** Every error becomes a problem document. */
export function handleRequest(exchange: Exchange, stages: Stages): void {
  const { observe } = stages;
  try {
    addCorsHeaders(exchange, stages.cors);
    // Before the cache: a request with an invalid token gets no cached response, however public.
    const caller = identifyCaller(exchange, stages);
    if (!(caller instanceof Promise)) return handleIdentified(exchange, caller, stages);
    caller
      .then((verified) => handleIdentified(exchange, verified, stages))
      .catch((error: unknown) => respondWithProblem(error, exchange, observe));
  } catch (error) {
    respondWithProblem(error, exchange, observe);
  }
}

/** CORS first: problem documents need its headers too. */
function addCorsHeaders({ request, proxyHeaders }: Exchange, cors: Cors): void {
  proxyHeaders.onEvery.push(...cors.headersFor(request.headers.origin));
  if (cors.varies) proxyHeaders.vary.push("Origin");
}

/** A promise only if a signature must be verified. @throws AppError UNAUTHENTICATED or SERVICE_UNAVAILABLE, TOO_MANY_REQUESTS. */
function identifyCaller(exchange: Exchange, stages: Stages): Caller | Promise<Caller> {
  const { callers, charges } = stages;
  const { request, proxyHeaders } = exchange;
  let caller: Caller | undefined;
  try {
    caller = callers.identify(request);
  } catch (error) {
    return rejectToken(error, exchange, stages);
  }
  if (caller) return caller;
  charges.chargeVerification(request, proxyHeaders.onEvery);
  return callers.verify(request).catch((error: unknown) => rejectToken(error, exchange, stages));
}

/**
 * Charges a request whose token is invalid or cannot be verified to the rate limit of its client key or, without a key, of its address.
 * @throws AppError TOO_MANY_REQUESTS if that limit is exceeded, else `error`.
 */
function rejectToken(error: unknown, { request, proxyHeaders }: Exchange, { callers, charges }: Stages): never {
  charges.charge(request, callers.callerWithoutToken(request), proxyHeaders.onEvery);
  throw error;
}

/** Without an `await` up to the cache hit. @throws AppError for a rejected request. */
function handleIdentified(exchange: Exchange, caller: Caller, stages: Stages): void {
  const { response, record } = exchange;
  // The client may have disconnected while its token was verified.
  if (response.destroyed || response.closed) return;
  record.client = caller.client;
  const admitted = admit(exchange, caller, stages);
  const routed = chooseRoute(exchange, admitted, stages);
  if (!routed) return;
  const uncached = respondFromCacheIfFresh(exchange, routed, stages);
  if (!uncached) return;
  forwardIfAdmitted(uncached, stages).catch((error: unknown) => respondWithProblem(error, exchange, stages.observe));
}

/** The rest of stage admit. @throws AppError TOO_MANY_REQUESTS, MALFORMED_REQUEST. */
function admit(
  { request, method, url, proxyHeaders }: Exchange,
  caller: Caller,
  { charges, routeCache }: Stages,
): AdmittedRequest {
  charges.charge(request, caller, proxyHeaders.onEvery);
  const cachedRoute = routeCache.find(method, url, request.headers.accept);
  const target = cachedRoute?.target ?? readTarget(url);
  return { caller, target, host: readHost(request, target), cachedRoute };
}

/**
 * Stage route. Only the route table decides which service gets a request, never a header.
 * @returns undefined if the response is written: a document, or a response to `OPTIONS`.
 */
function chooseRoute(
  exchange: Exchange,
  { caller, target, host, cachedRoute }: AdmittedRequest,
  stages: Stages,
): RoutedRequest | undefined {
  const { retirements, table, cors } = stages;
  const { request, response, method, proxyHeaders, record } = exchange;
  // A path in the route cache has a route, so it is not a path of the documentation.
  const document = cachedRoute ? undefined : stages.documents.find(target.path);
  if (document) {
    respondWithDocument(exchange, document, cors, stages);
    return undefined;
  }
  const { accept } = request.headers;
  const resolved = cachedRoute?.resolved ?? stages.resolveVersion({ method, path: target.path, accept });
  const { entry, version } = resolved;
  addVersionHeaders(resolved, proxyHeaders, retirements, table);
  record.version = version;
  if (method === "OPTIONS") {
    respondToOptions(exchange, entry.allow, cors);
    return undefined;
  }
  // Before the cache: after its sunset, no cached response of a version is sent, however fresh.
  retirements.requireBeforeSunset(version);
  const route = cachedRoute?.route ?? selectRoute(entry, method, response);
  record.route = route;
  stages.usage.count(version, route.id, caller.client.name);
  const resource = cachedRoute?.resource ?? withQuery(entry.path, readQuery(target.query, route.query));
  addContentLocation(resolved, method, resource, proxyHeaders);
  const uncachedRoute = cachedRoute ? undefined : { target, resolved, route, resource };
  return { caller, host, route, version, resource, uncachedRoute };
}

/** Stage cache, as far as it needs no service. @returns undefined if the response is written. */
function respondFromCacheIfFresh(
  exchange: Exchange,
  routed: RoutedRequest,
  stages: Stages,
): UncachedRequest | undefined {
  const { cache, receiptRules, routeCache, compression } = stages;
  const { request, method, url } = exchange;
  const { headers } = request;
  const { route, resource, uncachedRoute } = routed;
  const coding = compression.chooseCoding(headers["accept-encoding"]);
  const receipts = receiptRules.read(request, route.service);
  const lookup = receiptRules.limit(createLookup(request, route, resource, coding), receipts);
  // `findFresh` finds nothing for a write. A read with a body gets no cached response, since `readBody` rejects it with 400 later.
  const cachedResponse = hasBody(request) ? undefined : cache.findFresh(lookup);
  if (!cachedResponse) return { ...exchange, ...routed, coding, lookup, receipts };
  if (uncachedRoute) routeCache.set(method, url, headers.accept, uncachedRoute);
  respondFromCache(exchange, cachedResponse);
  closeResponseIfUnread(exchange, stages);
  return undefined;
}

/**
 * CPU time in milliseconds of a forwarded request (`npm run bench:rest`), and for each KB of its body and its response: a megabyte in either direction
 * takes 1.4 ms. Under overload, callers that have used more CPU time wait longer. A cache hit takes less than the unit that it is charged.
 */
const forwardCpuMs = { request: 0.08, perKb: 0.0014 };

/**
 * Cache hits do not need admission, since a hit costs less than a rejection.
 * A request that is not admitted is rejected, perhaps later. @throws AppError for an invalid body, and what `forward` throws; ClientDisconnected.
 */
async function forwardIfAdmitted(uncached: UncachedRequest, stages: Stages): Promise<void> {
  const { request, response, method, url, route, caller, uncachedRoute, arrivedMs } = uncached;
  // Before admission and IN_FLIGHT_MAX of the service: a slow sender must use up neither. No `await` for a request without a body.
  const body = hasBody(request) ? await stages.readBody(request, response) : undefined;
  const priority = lowerByPriorityHeader(route.priority, request.headers["priority"]);
  const endsAtMs = readClientDeadline(request.headers[deadlineHeader], arrivedMs);
  const entered = stages.admission.enter(priority, caller.key, endsAtMs);
  // No `await` for a request that is admitted at once.
  const isAdmitted = entered === true || (await entered);
  if (!isAdmitted) return stages.heldRejections.hold(response, prepareOverloaded(uncached));
  const { socket } = request;
  const writtenBefore = socket.bytesWritten;
  try {
    // Only an admitted request stores its route: storing takes 5 µs, a sixth of the cost of a rejection, and evicts another route.
    if (uncachedRoute) stages.routeCache.set(method, url, request.headers.accept, uncachedRoute);
    await forward(uncached, body, stages);
  } finally {
    const bytes = (body?.length ?? 0) + socket.bytesWritten - writtenBefore;
    const cpuMs = forwardCpuMs.request + (bytes / 1_024) * forwardCpuMs.perKb;
    stages.charges.debit(request, caller, cpuMs);
    stages.admission.leave(caller.key, cpuMs);
  }
}

/**
 * A cache miss, a stale response or a write.
 * @throws AppError BAD_GATEWAY, GATEWAY_TIMEOUT or SERVICE_UNAVAILABLE if there is no response, HEADERS_TOO_LARGE and UNSUPPORTED_MEDIA_TYPE.
 */
async function forward(uncached: UncachedRequest, body: Buffer | undefined, stages: Stages): Promise<void> {
  const { request, response, requestId, proxyHeaders, caller, host, route, version, resource, receipts, record } =
    uncached;
  const isReadRequest = isRead(request);
  const headers = toServiceHeaders(request, {
    requestId,
    traceParent: record.traceParent,
    client: caller,
    host,
    bodyBytes: bodyBytesOf(request, body),
    isRead: isReadRequest,
    contentType: body && toServiceType(request, version),
    mayBeShared: isReadRequest && route.cache !== "none",
  });
  const serviceTarget = upstreamPath(resource, route, version);
  requireFittingHeaders(serviceTarget, headers);
  // The client may have disconnected while its request waited for admission or its body was read.
  if (response.destroyed || response.closed) return;
  try {
    const fetch = createOriginFetch(uncached, { target: serviceTarget, body }, stages);
    const { noteShared: onJoined } = stages.services.get(route.service);
    const onInformation = createInformationForwarder(response);
    const lookup = await stages.receiptRules.awaitChanges(uncached.lookup, receipts);
    const addHeaders = (head: string[]) => {
      recordCacheStatus(record, head);
      return addProxyHeaders(head, proxyHeaders);
    };
    const endsAtMs = findDeadline(uncached, stages.upstreamTimeoutMs);
    await stages.cache.respond({
      lookup,
      response,
      fetchers: { headers, fetch, isRefused, onJoined },
      addHeaders,
      onInformation,
      endsAtMs,
    });
  } catch (error) {
    // False if the client has disconnected. After the head of a response is written, `cache.respond` does not throw.
    const canSendProblem = !(error instanceof ClientDisconnected) && isUnstarted(response);
    if (!canSendProblem) return;
    throw reportFailure(error, uncached, stages.observe);
  }
  closeResponseIfUnread(uncached, stages);
}

/** Undefined if the service's own time ends earlier. */
function findDeadline({ request, arrivedMs }: UncachedRequest, upstreamTimeoutMs: number): number | undefined {
  const endsAtMs = readClientDeadline(request.headers[deadlineHeader], arrivedMs);
  return endsAtMs < performance.now() + upstreamTimeoutMs ? endsAtMs : undefined;
}

type ForwardedRequest = Pick<ServiceRequest, "target" | "body">;

/** The cache chooses the method and the headers, and may abort the request. */
function createOriginFetch(
  uncached: UncachedRequest,
  { target, body }: ForwardedRequest,
  { services, charges, compression, addCacheTags, receipts, observe }: Stages,
): OriginFetch {
  const { request, route, version, coding, record, caller } = uncached;
  const { service } = route;
  const { span } = record;
  const shareKey = charges.shareKeyOf(caller);
  const client = services.get(service);
  const send = isRead(request) ? client.sendByUndici : client.sendByMiddleware;
  const takesIdempotencyKey = acceptsIdempotencyKey(route, version);
  const fetchUncompressed: OriginFetch = (originRequest) =>
    send({
      ...originRequest,
      target,
      body,
      caller: originRequest.isBackground ? undefined : shareKey,
      takesIdempotencyKey,
      span,
    });
  const fetchCompressed = compressReads(fetchUncompressed, coding, compression);
  return async (originRequest) => {
    const fetched = withClientLocations(await fetchCompressed(originRequest), uncached, services);
    if (fetched.body instanceof Readable) {
      fetched.body.once("error", (error) => {
        const reason = asAppError(error).code;
        if (error instanceof UnreadResponse)
          return observe({ kind: "response-truncated", reason, ...describeRequest(uncached) });
        record.truncatedBy = reason;
        observe({ kind: "response-truncated", service, reason, ...describeRequest(uncached) });
      });
    }
    const tagged = addCacheTags(isForeignError(fetched) ? maskForeignError(fetched, uncached, observe) : fetched);
    const writeContext = { service, earlierWrites: uncached.receipts.writes, isRead: isRead(request) };
    return replaceWritePosition(tagged, writeContext, receipts);
  };
}

/** Before the cache, which invalidates what they name. */
function withClientLocations(
  response: OriginResponse,
  { route, version }: Pick<UncachedRequest, "route" | "version">,
  services: Stages["services"],
): OriginResponse {
  if (route.prefix === undefined) return response;
  const toClientPath = (reference: string) =>
    clientPath(reference, route, version, () => services.originsOf(route.service));
  const headers = response.headers.map((text, at, all) => {
    const name = at % 2 === 1 ? (all[at - 1] ?? "").toLowerCase() : "";
    if (name === "location" || name === "content-location") return toClientPath(text);
    if (name !== "link") return text;
    return text.replaceAll(/<([^<>]*)>/g, (_, reference: string) => `<${toClientPath(reference)}>`);
  });
  return { ...response, headers };
}

function maskForeignError(response: OriginResponse, uncached: UncachedRequest, observe: Observe): OriginResponse {
  const { status, headers } = response;
  const cause = new Error(`Status ${status} with ${findHeader(headers, "content-type") ?? "no content type"}`);
  const { service } = uncached.route;
  observe({
    kind: "service-failed",
    service,
    replica: undefined,
    code: "FOREIGN_ERROR",
    cause,
    ...describeRequest(uncached),
  });
  return replaceForeignError(response, uncached);
}

/** @returns the error for the client; a bug is returned unchanged, and `respondWithProblem` reports it. */
function reportFailure(error: unknown, uncached: UncachedRequest, observe: Observe): unknown {
  const failure = asAppError(error);
  if (failure.code === "INTERNAL_SERVER_ERROR") return error;
  const replica = failure instanceof ServiceFailure ? failure.replica : undefined;
  const { service } = uncached.route;
  const { code, cause } = failure;
  // No failure of the service: the client gave it less time.
  if (cause instanceof DeadlinePassed) return failure;
  observe({ kind: "service-failed", service, replica, code, cause, ...describeRequest(uncached) });
  return failure;
}

function withQuery(path: string, query: string): string {
  return query === "" ? path : `${path}?${query}`;
}

function acceptsIdempotencyKey({ idempotencyKey }: Route, version: number): boolean {
  if (!idempotencyKey) return false;
  return idempotencyKey.optional.includes(version) || idempotencyKey.required.includes(version);
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/** A request has a `Content-Length` if it has a body or its method defines one (RFC 9110, 8.6). */
function bodyBytesOf(request: IncomingMessage, body: Buffer | undefined): number | undefined {
  return body?.length ?? (isRead(request) ? undefined : 0);
}
