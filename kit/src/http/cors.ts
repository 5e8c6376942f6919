import type { IncomingMessage, ServerResponse } from "node:http";

export interface CorsOptions {
  readonly origins: readonly CorsOrigin[];
  /** Besides the CORS-safelisted and the common ones. */
  readonly allowedHeaders: readonly string[];
  /** Besides the CORS-safelisted and the common ones. */
  readonly exposedHeaders: readonly string[];
  /** How long browsers keep the result of a preflight. Default 7,200, the most that Chromium accepts. */
  readonly preflightSeconds?: number | undefined;
}

export interface CorsOrigin {
  /** `https://app.example.com`; `https://*.example.com` for one host label, `http://host:*` for every port, `*` for all. */
  readonly pattern: string;
  /** Whether its pages may send cookies. Not with `*`. */
  readonly allowsCredentials?: boolean | undefined;
}

/** What `pattern` can be. A browser sends an origin in lower case and without a path, so any other pattern would match none. */
export const corsOriginPattern =
  /^(?:\*|https?:\/\/(?:\*\.)?[a-z0-9.-]+(?::(?:\d{1,5}|\*))?|https?:\/\/\[[0-9a-f:]+\](?::(?:\d{1,5}|\*))?)$/;
export const corsOriginRule =
  "has to be an origin, such as https://app.example.com, https://*.example.com or http://localhost:*, in lower case and without a path, or *";

/** Of both endpoints: what the common clients, and telemetry in browsers (OpenTelemetry, Sentry), send and read. */
const commonRequestHeaders = [
  "accept",
  "authorization",
  "content-type",
  "consistency-token",
  "priority",
  "apollographql-client-name",
  "apollographql-client-version",
  "traceparent",
  "tracestate",
  "baggage",
  "sentry-trace",
  "x-client-key",
  "x-client-version",
  "x-deadline-ms",
  "x-request-id",
];
const commonResponseHeaders = ["consistency-token", "retry-after", "traceparent", "www-authenticate", "x-request-id"];

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

const defaultPreflightSeconds = 7_200;

/** Fetch Standard, "CORS protocol". */
export function createCors({
  origins,
  allowedHeaders,
  exposedHeaders,
  preflightSeconds = defaultPreflightSeconds,
}: CorsOptions): Cors {
  const allowsAll = origins.some(({ pattern }) => pattern === "*");
  // Those with credentials first: they decide if several match.
  const patterns = origins
    .map(({ pattern, allowsCredentials = false }) => ({ expression: toExpression(pattern), allowsCredentials }))
    .toSorted((a, b) => Number(b.allowsCredentials) - Number(a.allowsCredentials));
  const varies = origins.length > 0 && (!allowsAll || patterns[0]?.allowsCredentials === true);
  const allowed = [...new Set([...commonRequestHeaders, ...allowedHeaders])].join(", ");
  const exposed = [
    "Access-Control-Expose-Headers",
    [...new Set([...commonResponseHeaders, ...exposedHeaders])].join(", "),
  ];
  const forAnyOrigin = allowsAll ? ["Access-Control-Allow-Origin", "*", ...exposed] : [];
  const find = (origin: string) => patterns.find(({ expression }) => expression.test(origin));
  const isAllowed = (origin: string) => find(origin) !== undefined;

  function headersFor(origin: string | undefined): readonly string[] {
    const pattern = origin === undefined ? undefined : find(origin);
    if (origin === undefined || !pattern) return forAnyOrigin;
    if (pattern.allowsCredentials)
      return ["Access-Control-Allow-Origin", origin, ...exposed, "Access-Control-Allow-Credentials", "true"];
    return allowsAll ? forAnyOrigin : ["Access-Control-Allow-Origin", origin, ...exposed];
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
      response.setHeader("Access-Control-Allow-Headers", allowed);
      response.setHeader("Access-Control-Max-Age", preflightSeconds);
    },
  };
}

export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

function toExpression(pattern: string): RegExp {
  if (pattern === "*") return /^/;
  const text = pattern
    .replace(/:\*$/, "<port>")
    .replace("://*.", "://<label>.")
    .replaceAll(/[^\w<>:/-]/g, String.raw`\$&`)
    .replace("<label>", "[^.:/]+")
    .replace("<port>", String.raw`(?::\d{1,5})?`);
  return new RegExp(`^${text}$`);
}
