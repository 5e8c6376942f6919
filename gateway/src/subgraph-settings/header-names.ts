// Headers that rules must not name: the gateway, HTTP itself or a cache decides about them.

import { createLinearPattern } from "./linear-pattern.ts";

/** By their names in lower case. */
export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** RFC 9110, 7.6.1, and those that HTTP/1.1 connections use. */
const hopByHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-authentication-info",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
];

const reservedInRequests: ReadonlySet<string> = new Set([
  ...hopByHop,
  "host",
  "expect",
  "x-client-key",
  "traceparent",
  "tracestate",
  "request-id",
  "x-request-id",
  "x-correlation-id",
  "forwarded",
  "x-deadline-ms",
  "consistency-token",
  "write-position",
]);
const prefixesOfRequests = ["accept", "content-", "x-forwarded-"];

const reservedInResponses: ReadonlySet<string> = new Set([
  ...hopByHop,
  "age",
  "alt-svc",
  "cache-control",
  "cache-groups",
  "cache-tag",
  "cdn-cache-control",
  "cloudflare-cdn-cache-control",
  "consistency-token",
  "date",
  "edge-control",
  "etag",
  "expires",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "server-timing",
  "surrogate-control",
  "surrogate-key",
  "traceparent",
  "vary",
  "write-position",
  "x-content-type-options",
  "x-request-id",
  "x-sendfile",
]);
/** By `x-accel-…`, nginx caches a response or replaces it by a file. */
const prefixesOfResponses = ["access-control-", "content-", "x-accel-"];

/** Servers of CGI and WSGI read `x_a` and `x-a` as one header. */
export function spellingOf(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

export function isReservedInRequests(name: string): boolean {
  const spelling = spellingOf(name);
  return reservedInRequests.has(spelling) || prefixesOfRequests.some((prefix) => spelling.startsWith(prefix));
}

export function isReservedInResponses(name: string): boolean {
  const spelling = spellingOf(name);
  return reservedInResponses.has(spelling) || prefixesOfResponses.some((prefix) => spelling.startsWith(prefix));
}

/** In lower case. */
export function listNames(named: string | readonly string[] | undefined): readonly string[] {
  return (typeof named === "string" ? [named] : (named ?? [])).map((name) => name.toLowerCase());
}

interface Selection {
  readonly named?: string | readonly string[] | undefined;
  readonly matching?: string | undefined;
}

/** What a rule removes, in any spelling. */
export function createSelector({ named, matching }: Selection): (name: string) => boolean {
  const names = new Set(listNames(named).map(spellingOf));
  const pattern = matching === undefined ? undefined : createLinearPattern(matching);
  return (name) => [name, spellingOf(name)].some((spelling) => names.has(spelling) || pattern?.test(spelling));
}

const nothingDropped: ReadonlySet<string> = new Set();

/** Headers that their sender declared as hop-by-hop (RFC 9110, 7.6.1), as `spellingOf` has them. */
export function listDropped(headers: HeaderValues): ReadonlySet<string> {
  const connection = toText(headers["connection"]);
  if (connection === undefined || connection === "keep-alive") return nothingDropped;
  return new Set(connection.split(",").map((name) => spellingOf(name.trim())));
}

/** Undefined also for what objects inherit: a header can have the name `constructor`. */
export function toText(value: string | readonly string[] | undefined): string | undefined {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.join(", ") : undefined;
}
