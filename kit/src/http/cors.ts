import type { IncomingMessage, ServerResponse } from "node:http";

export interface CorsOptions {
  /** Exact origins, `http://host:*` for every port of a host, or `*` for all. An empty list turns CORS off. */
  readonly origins: readonly string[];
  /** Besides the CORS-safelisted ones. */
  readonly allowedHeaders: readonly string[];
  /** Besides the CORS-safelisted ones. */
  readonly exposedHeaders: readonly string[];
}

export interface Cors {
  isAllowed(origin: string): boolean;
  /**
   * A raw list, empty for an origin that is not allowed. Without `Vary: Origin`, which is needed if `varies`. With `*` also for a request without an
   * origin: caches store its response for pages (Fetch Standard, "CORS protocol and HTTP caches").
   */
  headersFor(origin: string | undefined): readonly string[];
  readonly varies: boolean;
  /** Adds headers if the response has those of `headersFor`. @param methods of the path, separated by commas. */
  permitPreflight(request: IncomingMessage, response: ServerResponse, methods: string): void;
}

/** Chromium caches a preflight result for at most two hours. */
const preflightSeconds = 7_200;

/** Fetch Standard, "CORS protocol". Credentials are not allowed: tokens are sent in `Authorization`, cookies are ignored. */
export function createCors({ origins, allowedHeaders, exposedHeaders }: CorsOptions): Cors {
  const allowsAll = origins.includes("*");
  const isAllowed = (origin: string) => allowsAll || origins.some((allowed) => matchesOrigin(allowed, origin));
  const varies = !allowsAll && origins.length > 0;
  const exposed = exposedHeaders.join(", ");

  function headersFor(origin: string | undefined): readonly string[] {
    const allowed = allowsAll ? "*" : origin;
    if (allowed === undefined || !isAllowed(allowed)) return [];
    return ["Access-Control-Allow-Origin", allowed, "Access-Control-Expose-Headers", exposed];
  }

  return {
    isAllowed,
    headersFor,
    varies,
    permitPreflight(request, response, methods) {
      if (!isPreflight(request)) return;
      const isOriginAllowed = response.hasHeader("Access-Control-Allow-Origin");
      if (!isOriginAllowed) return;
      response.setHeader("Access-Control-Allow-Methods", methods);
      response.setHeader("Access-Control-Allow-Headers", allowedHeaders.join(", "));
      response.setHeader("Access-Control-Max-Age", preflightSeconds);
    },
  };
}

export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

const anyPort = ":*";
const optionalPort = /^(?::\d{1,5})?$/;

function matchesOrigin(allowed: string, origin: string): boolean {
  if (!allowed.endsWith(anyPort)) return allowed === origin;
  const schemeAndHost = allowed.slice(0, -anyPort.length);
  return origin.startsWith(schemeAndHost) && optionalPort.test(origin.slice(schemeAndHost.length));
}
