import type { IncomingMessage, ServerResponse } from "node:http";
import { forEachHeader } from "./raw-headers.ts";

export interface CorsOptions {
  /** Exact origins, `http://host:*` for every port of a host, or `*` for all. */
  readonly origins: readonly string[];
  /** What a page may send besides the simple headers. */
  readonly allowedHeaders: readonly string[];
  /** What a page may read besides the simple headers. */
  readonly exposedHeaders: readonly string[];
}

export interface Cors {
  /** The same as `allowOrigin` adds, names and values in turn; `Vary` is left to the caller: it is `Origin` unless anyone may read. */
  headersFor(origin: string | undefined): readonly string[];
  readonly varies: boolean;
  /** On every answer, refusals too: otherwise a page sees "network error" in their place. */
  allowOrigin(request: IncomingMessage, response: ServerResponse): void;
  /** Adds to the answer of a preflight what is allowed; `methods` are those of the path. A foreign page gets nothing: its browser stops there. */
  permitPreflight(request: IncomingMessage, response: ServerResponse, methods: string): void;
}

/** How long a browser may keep a preflight's answer; Chromium takes no more than two hours. */
const preflightSeconds = 7_200;

/** CORS by allow-list (Fetch Standard, "CORS protocol"). Credentials are not allowed: tokens go in `Authorization`, cookies mean nothing here. */
export function createCors({ origins, allowedHeaders, exposedHeaders }: CorsOptions): Cors {
  const anyone = origins.includes("*");
  const isAllowed = (origin: string) => anyone || origins.some((allowed) => admits(allowed, origin));
  const varies = !anyone && origins.length > 0;
  const exposed = exposedHeaders.join(", ");

  function headersFor(origin: string | undefined): readonly string[] {
    if (origin === undefined || !isAllowed(origin)) return [];
    return ["Access-Control-Allow-Origin", anyone ? "*" : origin, "Access-Control-Expose-Headers", exposed];
  }

  return {
    headersFor,
    varies,
    allowOrigin(request, response) {
      if (varies) response.appendHeader("Vary", "Origin");
      forEachHeader(headersFor(request.headers.origin), (name, value) => response.setHeader(name, value));
    },
    permitPreflight(request, response, methods) {
      if (!isPreflight(request) || !response.hasHeader("Access-Control-Allow-Origin")) return;
      response.setHeader("Access-Control-Allow-Methods", methods);
      response.setHeader("Access-Control-Allow-Headers", allowedHeaders.join(", "));
      response.setHeader("Access-Control-Max-Age", preflightSeconds);
    },
  };
}

export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/** `http://localhost:*` admits every port of that host, and none; everything else is compared whole. */
function admits(allowed: string, origin: string): boolean {
  if (!allowed.endsWith(":*")) return allowed === origin;
  const start = allowed.slice(0, -2);
  return origin.startsWith(start) && /^(?::\d{1,5})?$/.test(origin.slice(start.length));
}
