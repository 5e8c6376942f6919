import type { IncomingMessage, ServerResponse } from "node:http";
import { readRequestId } from "@tributary/kit/http/request-id";
import type { RequestObserver } from "@tributary/kit/telemetry/request-observer";
import type { ObservedRequest } from "../telemetry/observations.ts";
import { createRequestRecord, type RequestRecord } from "../telemetry/request-record.ts";

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

/** Gives the request its id and its trace, which every response repeats, and reports the end of the response to the observer. */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  observer?: RequestObserver<RequestRecord>,
): Exchange {
  const { method = "", url = "", headers } = request;
  const proxyHeaders = createProxyHeaders();
  const requestId = readRequestId(headers["x-request-id"]);
  const record = observer?.begin(request, response, requestId) ?? createRequestRecord(undefined, headers);
  proxyHeaders.onEvery.push("X-Request-Id", requestId, "traceparent", record.traceParent);
  proxyHeaders.onEvery.push("X-Content-Type-Options", "nosniff");
  return { request, response, method, url, requestId, proxyHeaders, record };
}

/** The request as observations and logs describe it. */
export function describeRequest({ requestId, method, url, record }: Exchange): ObservedRequest {
  // Without the query, and of bounded length.
  const path = (url.split("?", 1)[0] ?? "").slice(0, 256);
  return { requestId, traceId: record.traceId, method, route: record.route?.path ?? "other", path };
}
