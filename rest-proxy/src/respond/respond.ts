/** Stage 5 of 5: respond. Writes the responses that need no service, and destroys responses that clients do not read in time. */
import type { Cors } from "@tributary/kit/http/cors";
import { forEachHeader } from "@tributary/kit/http/raw-headers";
import { closeIfUnread } from "@tributary/kit/process/pending-responses";
import { discardRest } from "../admit/body.ts";
import { describeRequest, type Exchange } from "../admit/exchange.ts";
import { endWith } from "../cache/body-relay.ts";
import type { CachedResponse } from "../cache/write-response.ts";
import type { Page } from "../documents/pages.ts";
import type { Observe } from "../telemetry/observations.ts";
import { recordCacheStatus } from "../telemetry/request-record.ts";
import { addProxyHeaders, listProxyHeaders } from "./proxy-headers.ts";

export function respondFromCache({ response, proxyHeaders, record }: Exchange, cached: CachedResponse): void {
  response.writeHead(cached.status, addProxyHeaders(cached.headers, proxyHeaders));
  recordCacheStatus(record, cached.headers);
  endWith(response, cached.body);
}

/** Also for requests that are no CORS preflight. @param allow the methods of the path. */
export function respondToOptions({ request, response, proxyHeaders }: Exchange, allow: string, cors: Cors): void {
  discardRest(request, response);
  forEachHeader(listProxyHeaders(proxyHeaders), (name, value) => {
    response.appendHeader(name, value);
  });
  cors.permitPreflight(request, response, allow);
  response.writeHead(204, { Allow: allow }).end();
}

export function respondWithDocument(exchange: Exchange, document: Page, cors: Cors, options: UnreadOptions): void {
  const { request, response, proxyHeaders, method } = exchange;
  if (method === "OPTIONS") return respondToOptions(exchange, document.allow, cors);
  const { status, headers, bytes } = document.respond(method, request.headers);
  discardRest(request, response);
  response.writeHead(status, addProxyHeaders([...headers], proxyHeaders)).end(bytes);
  closeResponseIfUnread(exchange, options);
}

interface UnreadOptions {
  readonly responseTimeoutMs: number;
  readonly observe: Observe;
}

/** Call it once the whole response is written. */
export function closeResponseIfUnread(exchange: Exchange, { responseTimeoutMs, observe }: UnreadOptions): void {
  closeIfUnread(exchange.response, responseTimeoutMs, () =>
    observe({ kind: "response-truncated", reason: "GATEWAY_TIMEOUT", ...describeRequest(exchange) }),
  );
}
