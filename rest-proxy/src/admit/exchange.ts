// Stage 1 of 5: admit. One request with its response, and the headers that the stages add to the response.
import type { IncomingMessage, ServerResponse } from "node:http";
import { readRequestId } from "@tributary/kit/http/request-id";
import type { RequestObserver } from "@tributary/kit/telemetry/request-observer";
import type { ObservedRequest } from "../telemetry/observations.ts";
import { createRequestRecord, type RequestRecord } from "../telemetry/request-record.ts";

/** One request and its response, from the first stage to the last. */
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

/**
 * The headers that the proxy adds to a response. Every stage adds to these lists, and only stage 5 writes them (`respond/proxy-headers.ts`). They are
 * about one request, so the cache never stores them.
 */
export interface ProxyHeaders {
  /**
   * For every response, problem documents too: alternating names and values. `openExchange` adds the ids, `addCorsHeaders` CORS,
   * `charges.ts` the rate limit, and `version.ts` the version.
   */
  readonly onEvery: string[];
  /** Only for responses of a service or the cache, never for the proxy's own problem documents or `OPTIONS`: `Content-Location`. */
  readonly onResource: string[];
  /** Field names for `Vary`, besides the service's. */
  readonly vary: string[];
  /** Replaces `application/json` if the client negotiated another media type. */
  mediaType: string | undefined;
}

export function createProxyHeaders(): ProxyHeaders {
  return { onEvery: [], onResource: [], vary: [], mediaType: undefined };
}

/** The first step of each request, called by `server.ts`: reads or creates its id and trace, which every response has, and its record. */
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

/** A longer path is cut off in the log. */
const loggedPathCharactersMax = 256;

/** The request as observations and logs describe it: without its query. */
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
