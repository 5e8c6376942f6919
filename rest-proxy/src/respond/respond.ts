/**
 * Stage 5 of 5: respond. Writes the responses that need no service, and destroys responses that clients do not read in time. `problems.ts` writes
 * problem documents, the cache all other responses (`cache/write-response.ts`). `proxy-headers.ts` adds the headers that the stages have collected.
 */
import type { Cors } from "@tributary/kit/http/cors";
import { forEachHeader } from "@tributary/kit/http/raw-headers";
import { discardBody } from "../admit/body.ts";
import { describeRequest, type Exchange } from "../admit/exchange.ts";
import { endWith } from "../cache/body-relay.ts";
import type { CachedResponse } from "../cache/write-response.ts";
import type { ServedDocument } from "../documents/documents.ts";
import type { Observe } from "../telemetry/observations.ts";
import { recordCacheStatus } from "../telemetry/request-record.ts";
import { addProxyHeaders, listProxyHeaders } from "./proxy-headers.ts";

/** Writes a cache hit. */
export function respondFromCache({ response, proxyHeaders, record }: Exchange, cached: CachedResponse): void {
  response.writeHead(cached.status, addProxyHeaders(cached.headers, proxyHeaders));
  recordCacheStatus(record, cached.headers);
  endWith(response, cached.body);
}

/** Responds to `OPTIONS`, a CORS preflight or not, with 204. @param allow the methods of the path. */
export function respondToOptions({ request, response, proxyHeaders }: Exchange, allow: string, cors: Cors): void {
  discardBody(request, response);
  forEachHeader(listProxyHeaders(proxyHeaders), (name, value) => {
    response.appendHeader(name, value);
  });
  cors.permitPreflight(request, response, allow);
  response.writeHead(204, { Allow: allow }).end();
}

/** Responds with a page of the documentation, an OpenAPI document or the API catalog. */
export function respondWithDocument(exchange: Exchange, document: ServedDocument, cors: Cors): void {
  const { request, response, proxyHeaders, method } = exchange;
  if (method === "OPTIONS") return respondToOptions(exchange, document.allow, cors);
  const { status, headers, bytes } = document.respond(method, request.headers);
  discardBody(request, response);
  response.writeHead(status, addProxyHeaders([...headers], proxyHeaders)).end(bytes);
}

/** How long clients may take to read a response. */
export interface ResponseTimeout {
  /** Call it once the whole response is written. */
  watch(exchange: Exchange): void;
}

/** Destroys a response that its client has not read `responseTimeoutMs` after it was written: until then it occupies memory. */
export function createResponseTimeout(responseTimeoutMs: number, observe: Observe): ResponseTimeout {
  return {
    watch(exchange) {
      const { response } = exchange;
      // The operating system has accepted most responses completely by now.
      if (response.destroyed || response.writableLength === 0) return;
      const timer = setTimeout(() => {
        observe({ kind: "response-truncated", reason: "GATEWAY_TIMEOUT", ...describeRequest(exchange) });
        response.destroy();
      }, responseTimeoutMs);
      response.once("close", () => clearTimeout(timer));
    },
  };
}
