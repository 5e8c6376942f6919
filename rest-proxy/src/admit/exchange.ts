// Stage 1 of 5: admit. One request with its response, and the headers that the stages add to the response.
import type { IncomingMessage, ServerResponse } from "node:http";
import { readRequestId } from "@tributary/kit/http/request-id";
import type { RequestObserver } from "@tributary/kit/telemetry/request-observer";
import type { ObservedRequest } from "../telemetry/observations.ts";
import { createRequestRecord, type RequestRecord } from "../telemetry/request-record.ts";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly url: string;
  readonly requestId: string;
  /** By `performance.now`. */
  readonly arrivedMs: number;
  readonly proxyHeaders: ProxyHeaders;
  readonly record: RequestRecord;
}

/** The cache never stores these headers, since they are about one request. */
export interface ProxyHeaders {
  /** The id and the trace of the request: for all responses that shared caches must not store. */
  readonly ids: string[];
  /** Problem documents too: alternating names and values. */
  readonly onEvery: string[];
  /** Only for responses of a service or the cache: `Content-Location`. */
  readonly onResource: string[];
  readonly vary: string[];
  mediaType: string | undefined;
}

export function createProxyHeaders(): ProxyHeaders {
  return { ids: [], onEvery: [], onResource: [], vary: [], mediaType: undefined };
}

/** Reads or creates the id and the trace. */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  observer?: RequestObserver<RequestRecord>,
): Exchange {
  const { method = "", url = "", headers } = request;
  const proxyHeaders = createProxyHeaders();
  const requestId = readRequestId(headers["x-request-id"]);
  const record = observer?.begin(request, response, requestId) ?? createRequestRecord(undefined, headers);
  proxyHeaders.ids.push("X-Request-Id", requestId, "traceparent", record.traceParent);
  proxyHeaders.onEvery.push("X-Content-Type-Options", "nosniff");
  return { request, response, method, url, requestId, arrivedMs: performance.now(), proxyHeaders, record };
}

const loggedPathCharactersMax = 256;

/** Without its query, for logs. */
export function describeRequest({ requestId, method, url, record }: Exchange): ObservedRequest {
  const path = url.split("?", 1)[0] ?? "";
  return {
    requestId,
    traceId: record.traceId,
    method,
    route: record.route?.path ?? "other",
    path: path.slice(0, loggedPathCharactersMax),
  };
}
