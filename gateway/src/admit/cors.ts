// Stage 1 of 5: may you come in? Which pages may read answers (Fetch Standard, "CORS protocol").
import type { IncomingMessage, ServerResponse } from "node:http";

const allowedMethods = "GET, POST, OPTIONS";
const allowedHeaders = [
  "accept",
  "authorization",
  "content-type",
  "apollo-require-preflight",
  "x-apollo-operation-name",
  "apollographql-client-name",
  "apollographql-client-version",
  "traceparent",
  "x-request-id",
].join(", ");
const exposedHeaders = "x-request-id, traceparent, retry-after";
const preflightMaxAgeSeconds = 600;

/**
 * Adds the headers that let a page of an allowed origin read the answer. No cookies are ever used, so credentials are not allowed.
 * @param origins exact origins, `http://host:*` for any port of a host, or `*`.
 * @returns true when the request was a preflight and is answered.
 */
export function createCors(
  origins: readonly string[],
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const patterns = new Set(origins);
  return (request, response) => {
    response.appendHeader("Vary", "Origin");
    const { origin } = request.headers;
    const allowed = origin !== undefined && isAllowed(origin, patterns);
    if (allowed) {
      response.setHeader("Access-Control-Allow-Origin", origin);
      response.setHeader("Access-Control-Expose-Headers", exposedHeaders);
    }
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return false;
    answerPreflight(response, allowed);
    return true;
  };
}

/** A foreign page gets a 204 without permission: the browser stops there. */
function answerPreflight(response: ServerResponse, allowed: boolean): void {
  if (allowed) {
    response.setHeader("Access-Control-Allow-Methods", allowedMethods);
    response.setHeader("Access-Control-Allow-Headers", allowedHeaders);
    response.setHeader("Access-Control-Max-Age", String(preflightMaxAgeSeconds));
  }
  response.statusCode = 204;
  response.end();
}

function isAllowed(origin: string, patterns: ReadonlySet<string>): boolean {
  if (patterns.has("*") || patterns.has(origin)) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, origin: normal } = new URL(origin);
  return normal === origin && patterns.has(`${protocol}//${hostname}:*`);
}
