import type { IncomingMessage, ServerResponse } from "node:http";

/** What a page's script may read besides the simple ones. */
const exposed = "API-Version, ETag, Link, Location, Retry-After, X-Request-Id";
const allowedHeaders =
  "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Traceparent, Tracestate, X-Request-Id";
/** How long a browser may keep a preflight's answer; Chromium takes no more than two hours. */
const preflightSeconds = 7_200;

export interface Cors {
  /** On every answer, problems too: otherwise a page sees "network error" in their place. */
  allowOrigin(request: IncomingMessage, response: ServerResponse): void;
  /** On the answer to OPTIONS; `allow` are the path's methods. */
  answerPreflight(request: IncomingMessage, response: ServerResponse, allow: string): void;
}

/**
 * CORS by allow-list: `https://app.example`, `http://localhost:*` (any port), `*` (every origin). Credentials are not allowed: tokens go
 * in `Authorization`, and cookies have no meaning here.
 */
export function createCors(origins: readonly string[]): Cors {
  const anyone = origins.includes("*");
  const isAllowed = (origin: string) => anyone || origins.some((allowed) => admits(allowed, origin));

  return {
    allowOrigin(request, response) {
      if (origins.length === 0) return;
      if (!anyone) response.setHeader("Vary", "Origin");
      const { origin } = request.headers;
      if (origin === undefined || !isAllowed(origin)) return;
      response.setHeader("Access-Control-Allow-Origin", anyone ? "*" : origin);
      response.setHeader("Access-Control-Expose-Headers", exposed);
    },
    answerPreflight(request, response, allow) {
      if (!response.hasHeader("Access-Control-Allow-Origin")) return;
      if (request.headers["access-control-request-method"] === undefined) return;
      response.setHeader("Access-Control-Allow-Methods", allow);
      response.setHeader("Access-Control-Allow-Headers", allowedHeaders);
      response.setHeader("Access-Control-Max-Age", preflightSeconds);
    },
  };
}

/** `http://localhost:*` admits every port of that host, and none; everything else is compared whole. */
function admits(allowed: string, origin: string): boolean {
  if (!allowed.endsWith(":*")) return allowed === origin;
  const start = allowed.slice(0, -2);
  return origin.startsWith(start) && /^(?::\d{1,5})?$/.test(origin.slice(start.length));
}
