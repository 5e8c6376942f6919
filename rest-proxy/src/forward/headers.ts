/** Which headers the proxy forwards: of a request to the service, and of a response to the cache and the client. Called once per origin request. */
import type { IncomingMessage } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { listHeaderValues, parseTokens, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { isTraceParent } from "@tributary/kit/http/trace-context";
import type { ClientAddress } from "@tributary/kit/caller/client-address";

/**
 * Headers of one connection or for one proxy, of requests and responses: RFC 9110, 7.6.1 and 11.7; `Trailer`, which RFC 2616, 13.5.1 lists; and
 * `HTTP2-Settings` (RFC 7540, 3.2.1). `cache/` imports nothing of the proxy, so it has its own list, for stored responses, in `cache/entry.ts`.
 */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Request headers that a service never gets from the client: `Expect` and `Consistency-Token`, which the proxy has handled; headers that the proxy
 * sets itself; headers in which a client could claim another identity or address; and `Write-Position`, which only services send. `isForService`
 * also removes all `x-` headers.
 */
const neverForwarded: ReadonlySet<string> = new Set([
  "cf-connecting-ip",
  "client-ip",
  "consistency-token",
  "content-length",
  "expect",
  "fastly-client-ip",
  "forwarded",
  "host",
  "remote-addr",
  "remote-user",
  "traceparent",
  "true-client-ip",
  "via",
  "write-position",
]);

/** Response headers of services that clients do not get: the proxy sets them, or they reveal internals. `isForClient` also removes CORS headers. */
const notForClients: ReadonlySet<string> = new Set([
  "api-version",
  // Only the proxy issues receipts.
  "consistency-token",
  "server",
  "traceparent",
  "x-content-type-options",
  "x-powered-by",
  "x-request-id",
]);

/** The pseudonym in `Via` instead of the host name (RFC 9110, 7.6.3). */
const viaName = "tributary-rest-proxy";

export function isHopByHop(name: string): boolean {
  return hopByHop.has(name);
}

export interface ForwardingContext {
  readonly requestId: string;
  readonly traceParent: string;
  readonly client: ClientAddress;
  /** The host that the client requested, validated. Undefined if it named none: an empty `Host`, or HTTP/1.0. */
  readonly host: string | undefined;
  /** Undefined for a request without a body. */
  readonly bodyBytes: number | undefined;
  /**
   * `GET` or `HEAD`. The proxy itself negotiates media type and content coding, so the service gets `Accept: application/json` and
   * `Accept-Encoding: identity` instead of the client's values, and no header of `unsupportedOnReads`.
   */
  readonly isRead: boolean;
  /**
   * The cache may send the response to other clients: the service then gets neither `Forwarded` nor `X-Forwarded-…`, on which the response must not
   * depend. It gets `Authorization` in any case: the cache follows the rules for it (RFC 9111, 3.5).
   */
  readonly mayBeShared: boolean;
}

const negotiated: ReadonlySet<string> = new Set(["accept", "accept-encoding"]);

/** Ignored on `GET` and `HEAD`, since no route supports them there: a partial response or a 412 could not be cached (RFC 9110, 13.1 and 14.2). */
const unsupportedOnReads: ReadonlySet<string> = new Set(["if-match", "if-range", "if-unmodified-since", "range"]);

/**
 * The headers that a service gets, as alternating names and values; the cache and the transport add more later. Removed are: hop-by-hop headers,
 * headers that `Connection` names, `neverForwarded`, `x-` headers and names with an underscore (they may claim an identity, an address, a deadline or
 * another method; CGI-like servers read `_` as `-`), `Tracestate` without a valid `Traceparent`, and on reads what `isRead` describes. The proxy adds
 * its own headers last, so a client cannot remove them by naming them in `Connection`.
 */
export function toServiceHeaders(request: IncomingMessage, context: ForwardingContext): string[] {
  const { headers } = request;
  const dropped = parseConnectionNames(headers.connection);
  const isTraced = isTraceParent(headers.traceparent);
  const list: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (!isForService(name) || dropped.has(name) || (name === "tracestate" && !isTraced)) continue;
    if (context.isRead && (negotiated.has(name) || unsupportedOnReads.has(name))) continue;
    if (typeof value === "string") list.push(name, value);
    else for (const line of value ?? []) list.push(name, line);
  }
  addProxyRequestHeaders(list, request, context);
  return list;
}

function isForService(name: string): boolean {
  return !hopByHop.has(name) && !neverForwarded.has(name) && !name.startsWith("x-") && !name.includes("_");
}

function addProxyRequestHeaders(
  list: string[],
  request: IncomingMessage,
  { requestId, traceParent, client, host, bodyBytes, isRead, mayBeShared }: ForwardingContext,
): void {
  const { via } = request.headers;
  if (isRead) list.push("accept", "application/json", "accept-encoding", "identity");
  list.push("x-request-id", requestId, "traceparent", traceParent);
  if (!mayBeShared) addForwarded(list, client, host);
  list.push("via", `${via === undefined ? "" : `${via}, `}${request.httpVersion} ${viaName}`);
  if (bodyBytes !== undefined) list.push("content-length", String(bodyBytes));
}

function addForwarded(list: string[], { address, protocol }: ClientAddress, host: string | undefined): void {
  list.push("forwarded", forwardedElement(address, host, protocol));
  list.push("x-forwarded-for", address, "x-forwarded-proto", protocol);
  if (host !== undefined) list.push("x-forwarded-host", host);
}

/** One element of `Forwarded` (RFC 7239, 4): an IPv6 address and the host are quoted. The address is empty if the client has disconnected. */
function forwardedElement(address: string, host: string | undefined, protocol: string): string {
  const node = address.includes(":") ? `"[${address}]"` : address || "unknown";
  return [`for=${node}`, ...(host === undefined ? [] : [`host="${host}"`]), `proto=${protocol}`].join(";");
}

/**
 * The headers of a service's response for clients and the cache, as alternating names and values. Removed are: hop-by-hop headers, headers that
 * `Connection` names, `notForClients`, and CORS headers, which the proxy sets itself.
 */
export function toClientHeaders(headers: readonly string[]): readonly string[] {
  const dropped = connectionNamesOf(headers);
  return withoutHeaders(headers, (name) => !isForClient(name) || dropped.has(name));
}

function isForClient(name: string): boolean {
  return !hopByHop.has(name) && !notForClients.has(name) && !name.startsWith("access-control-");
}

const emptySet: ReadonlySet<string> = new Set();

/** The header names in `Connection`, in lower case: these headers are hop-by-hop too (RFC 9110, 7.6.1). */
export function connectionNamesOf(headers: readonly string[]): ReadonlySet<string> {
  const [first, ...others] = listHeaderValues(headers, "connection");
  return others.length === 0 ? parseConnectionNames(first) : parseConnectionNames([first, ...others].join(","));
}

/** The most frequent values of `Connection`, which need no parsing: `close` names no header, and `Keep-Alive` is in `hopByHop`. */
const valuesWithoutEffect: ReadonlySet<string> = new Set(["keep-alive", "close", "Keep-Alive", "Close"]);

function parseConnectionNames(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || valuesWithoutEffect.has(connection)) return emptySet;
  return new Set(parseTokens(connection));
}

/**
 * Node, and so each service, rejects a request with a target and headers of more than 16 KiB. 1 KiB less, for the headers that are added after this
 * check: the cache's conditions, and `Host`, the deadline and the trace by the transport.
 */
const forwardedBytesMax = 15_360;

/**
 * Rejects a request that Node accepted from the client, but that is too large for the service: the proxy adds headers, and its canonical query may be
 * longer than the client's (`+` becomes `%20`). The service would reject it without a problem document and close the connection, which costs the
 * next requests a new one.
 * @throws AppError HEADERS_TOO_LARGE.
 */
export function requireFittingHeaders(target: string, headers: readonly string[]): void {
  // Node counts the bytes of target, names and values. The target is ASCII, and Node decodes headers as Latin-1, so each character is a byte.
  let bytes = target.length;
  for (const part of headers) bytes += part.length;
  if (bytes <= forwardedBytesMax) return;
  throw new AppError("HEADERS_TOO_LARGE", "The path, the query and the headers are too large together.");
}
