import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { readRequestId } from "@tributary/kit/http/request-id";
import { createTraceParent, isTraceParent, readTraceContext } from "@tributary/kit/http/trace-context";
import type { ObservedRequest } from "../telemetry/observations.ts";
import type { RequestObserver } from "../telemetry/request-observer.ts";
import { RequestRecord } from "../telemetry/request-record.ts";

/** One request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** The request target as it was sent. */
  readonly url: string;
  readonly requestId: string;
  readonly proxyHeaders: ProxyHeaders;
  readonly record: RequestRecord;
}

/** The headers that the proxy adds to a response. The stages fill it in; nothing of it is stored in the cache. */
export interface ProxyHeaders {
  /** On every response, problem documents too: alternating names and values. */
  readonly onEvery: string[];
  /** Only on responses of a service or the cache, never on the proxy's problem documents. */
  readonly onResource: string[];
  /** Field names for `Vary`, besides the service's. */
  readonly vary: string[];
  /** Replaces `application/json` if the client negotiated another media type. */
  mediaType: string | undefined;
}

export function createProxyHeaders(): ProxyHeaders {
  return { onEvery: [], onResource: [], vary: [], mediaType: undefined };
}

/** Logged and counted as the status if the client disconnected before it had its response; nginx uses the same number. */
const clientClosedRequest = 499;

/** Gives the request its id and its trace, which every response repeats, and reports the end of the response to the observer. */
export function openExchange(request: IncomingMessage, response: ServerResponse, observer?: RequestObserver): Exchange {
  const { method = "", url = "", headers } = request;
  const proxyHeaders = createProxyHeaders();
  const requestId = readRequestId(headers["x-request-id"]);
  const span = observer?.begin(request, requestId);
  const record = new RequestRecord(span, span?.traceParent ?? traceParentOf(headers));
  proxyHeaders.onEvery.push("X-Request-Id", requestId, "traceparent", record.traceParent);
  proxyHeaders.onEvery.push("X-Content-Type-Options", "nosniff");
  const exchange = { request, response, method, url, requestId, proxyHeaders, record };
  if (!observer) return exchange;
  const startedAt = performance.now();
  response.on("close", () => {
    const status = response.writableFinished ? response.statusCode : clientClosedRequest;
    observer.end({ record, request, status, requestId, milliseconds: performance.now() - startedAt });
  });
  return exchange;
}

/** The client's trace; a new one if the client sent none or an invalid one. */
function traceParentOf({ traceparent }: IncomingHttpHeaders): string {
  return isTraceParent(traceparent) ? traceparent : createTraceParent(readTraceContext(undefined));
}

/** The request as observations and logs describe it. */
export function describeRequest({ requestId, method, url, record }: Exchange): ObservedRequest {
  // Without the query, and of bounded length.
  const path = (url.split("?", 1)[0] ?? "").slice(0, 256);
  return { requestId, traceId: record.traceId, method, route: record.route?.path ?? "other", path };
}
