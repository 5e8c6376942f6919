/** Stage 4 of 5: forward. Sends requests to one service: reads by undici, writes by http-proxy-middleware. */
import { Readable } from "node:stream";
import { deadlineHeader } from "@tributary/kit/http/deadline";
import { connectionNamesOf, hasHeader, isHopByHop, isHeaderNamed } from "@tributary/kit/http/raw-headers";
import type { UpstreamStatus } from "@tributary/kit/process/process-status";
import { AppError } from "@tributary/kit/errors/app-error";
import type { Span } from "@tributary/kit/telemetry/tracing/trace";
import { type AbortSignalLike, DeadlinePassed } from "@tributary/kit/http/abort-source";
import {
  type InformationListener,
  type ResponseBody,
  decodeRawHeaders,
  type Transport,
} from "@tributary/kit/upstream/transport";
import { streamedTransport } from "@tributary/kit/upstream/undici-transport";
import {
  createUpstream,
  type UpstreamFailure,
  type UpstreamObservation,
  type UpstreamOptions,
  type UpstreamRequest,
} from "@tributary/kit/upstream/upstream";
import {
  ClientDisconnected,
  badGateway,
  gatewayTimeout,
  responseLost,
  serviceSilent,
} from "../errors/service-failure.ts";
import type { ServiceClientObserver } from "../telemetry/service-observer.ts";
import { toClientHeaders } from "./headers.ts";
import { watchBody } from "./body-watch.ts";
import { createKeyedWriteSender, discard } from "./keyed-write.ts";
import { createMiddlewareTransport } from "./middleware-transport.ts";
import { closeConnection, openConnection, type ReplicaConnection } from "./replica-connection.ts";

export interface ServiceRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
  readonly signal: AbortSignalLike;
  /** Has a share of the service's requests in flight. Undefined: no share limits it. */
  readonly caller?: string | undefined;
  /** Then a `POST` that has an `Idempotency-Key` may be retried. */
  readonly takesIdempotencyKey?: boolean;
  /** Each attempt becomes a child span, whose trace the service gets. */
  readonly span?: Span | undefined;
  readonly onInformation?: InformationListener | undefined;
}

export interface ServiceResponse {
  readonly status: number;
  readonly headers: readonly string[];
  /** A stream must be read or destroyed. It is destroyed with an error if the response is truncated or late, without one if `signal` is aborted. */
  readonly body: Buffer | Readable;
}

/** @throws ServiceFailure BAD_GATEWAY, GATEWAY_TIMEOUT or SERVICE_UNAVAILABLE; AppError SERVICE_UNAVAILABLE if too many requests are in flight; ClientDisconnected. */
type SendToService = (request: ServiceRequest) => Promise<ServiceResponse>;

/** Both functions share replicas, their health, the retry budget and the limit of requests in flight. */
export interface ServiceClient {
  readonly sendByUndici: SendToService;
  readonly sendByMiddleware: SendToService;
  /** Of a client that waits for the response to another one's request. */
  noteShared(): void;
  readStatus(): UpstreamStatus;
  close(): Promise<void>;
}

export type ServiceClientObservation = UpstreamObservation & { readonly service: string };

export interface ServiceClientOptions extends Pick<
  UpstreamOptions<ReplicaConnection>,
  "urls" | "resolveEveryMs" | "retryBudget" | "resolveHost" | "nowMs" | "random"
> {
  readonly service: string;
  readonly requestsMax: number;
  /** For everything, with the whole body. 1 to 2^31 - 1. */
  readonly timeoutMs: number;
  /** Until the client has read its response, which may take longer than the service; at least `timeoutMs`. */
  readonly readTimeoutMs: number;
  /** TLS included. Default 1,000. */
  readonly connectTimeoutMs?: number;
  readonly observe?: (observation: ServiceClientObservation) => void;
  readonly observer?: ServiceClientObserver | undefined;
}

/** Of the requests in flight. */
const waitingWritesShare = 1 / 8;

export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const { service, requestsMax, timeoutMs, readTimeoutMs, connectTimeoutMs = 1_000, observe, observer } = options;
  const connectionLimits = { connectionsMax: requestsMax, connectTimeoutMs };
  const undici: Transport<ReplicaConnection, ResponseBody> = ({ connection, name, origin, path }, request, deadline) =>
    streamedTransport({ connection: connection.pool, name, origin, path }, request, deadline);
  const upstream = createUpstream<ReplicaConnection>({
    ...options,
    open: (address) => openConnection(address, connectionLimits),
    close: closeConnection,
    observe: (observation) => observe?.({ ...observation, service }),
    probeTransport: undici,
  });
  const readerExtraMs = Math.max(0, readTimeoutMs - timeoutMs);

  const sendKeyedWrite = createKeyedWriteSender({ upstream, timeoutMs, waitingMax: requestsMax * waitingWritesShare });

  async function send(
    request: ServiceRequest,
    transport: Transport<ReplicaConnection, ResponseBody>,
  ): Promise<ServiceResponse> {
    if (upstream.isFull(request.caller)) throw rejectOverload(observer);
    const { signal } = request;
    const observed = observer?.begin();
    try {
      const upstreamRequest = toUpstreamRequest(request, service, timeoutMs);
      const isKeyedWrite = request.method === "POST" && upstreamRequest.isIdempotent;
      const response = await (isKeyedWrite
        ? sendKeyedWrite(upstreamRequest, transport)
        : upstream.send(upstreamRequest, transport));
      if (response.kind === "failed") throw toError(response, upstreamRequest);
      const { status, body, rawHeaders, pendingBody: pending } = response;
      if (status === 304 && !isConditionalRead(request)) {
        discard(response);
        const fail = upstreamRequest.isIdempotent ? badGateway : responseLost;
        throw fail(new Error("The service responded with 304 to an unconditional request"), response.replica);
      }
      observed?.responded(status);
      const onClosed = () => observed?.closed();
      // Of a body that has arrived as a whole, only the memory of this process is read.
      if (pending && body instanceof Readable) watchBody(body, { pending, signal, readerExtraMs, onClosed });
      else onClosed();
      return { status, headers: toClientHeaders(decodeRawHeaders(rawHeaders), status), body };
    } catch (error) {
      observed?.failed(error);
      observed?.closed();
      throw error;
    }
  }

  const middleware = createMiddlewareTransport(connectTimeoutMs);
  return {
    sendByUndici: (request) => send(request, undici),
    sendByMiddleware: (request) => send(request, middleware),
    noteShared: () => upstream.noteShared(performance.now()),
    readStatus: () => upstream.readStatus(),
    close: () => upstream.close(),
  };
}

/** RFC 9110, 15.4.5. */
function isConditionalRead({ method, headers }: ServiceRequest): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return hasHeader(headers, "if-none-match") || hasHeader(headers, "if-modified-since");
}

function toUpstreamRequest(request: ServiceRequest, service: string, timeoutMs: number): UpstreamRequest {
  const { method, target, body, signal, caller, span, onInformation } = request;
  return {
    method,
    caller,
    path: target,
    headers: toEndToEnd(request.headers, span !== undefined),
    body,
    signal,
    timeoutMs,
    isIdempotent: isIdempotent(request),
    onInformation,
    traced: span && { parent: span, name: `forward ${service}`, attributes: { "tributary.service": service } },
  };
}

/**
 * Stricter than RFC 9110, 9.2.2: a repeated `DELETE` or `PUT` may get another response (404), and the client could not know that the first attempt
 * was processed.
 */
function isIdempotent({ method, headers, takesIdempotencyKey = false }: ServiceRequest): boolean {
  if (method === "GET" || method === "HEAD") return true;
  return method === "POST" && takesIdempotencyKey && hasIdempotencyKey(headers);
}

function hasIdempotencyKey(headers: readonly string[]): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    const isKey = isHeaderNamed(headers, index, "idempotency-key");
    if (isKey && headers[index + 1]?.trim() !== "") return true;
  }
  return false;
}

/** Each attempt gets these (kit/src/upstream); not `Expect`, since the body is sent at once. */
const setPerAttempt: ReadonlySet<string> = new Set(["expect", "host", deadlineHeader]);

function toEndToEnd(headers: readonly string[], isTraced: boolean): readonly string[] {
  const connectionNames = connectionNamesOf(headers);
  const remaining: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] ?? "").toLowerCase();
    if (setPerAttempt.has(name)) continue;
    if (isHopByHop(name) || connectionNames.has(name)) continue;
    if (isTraced && name === "traceparent") continue;
    remaining.push(name, headers[index + 1] ?? "");
  }
  return remaining;
}

function rejectOverload(observer: ServiceClientObserver | undefined): AppError {
  const error = new AppError("SERVICE_UNAVAILABLE", "Too many requests are in flight. Retry after 1 s.", {
    retryAfterSeconds: 1,
  });
  observer?.refuse(error);
  return error;
}

function toError({ reason, cause, replica }: UpstreamFailure, { isIdempotent }: UpstreamRequest): Error {
  if (reason === "timeout" || cause instanceof DeadlinePassed) return gatewayTimeout(cause, replica);
  if (reason === "aborted") return new ClientDisconnected("The client disconnected before the response.", { cause });
  if (reason === "breaker-open") return serviceSilent(cause, replica);
  // `overloaded` does not occur, since `send` checks `isFull`.
  if (reason !== "refused" && !isIdempotent) return responseLost(cause, replica);
  return badGateway(cause, replica);
}
