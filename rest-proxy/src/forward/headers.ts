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

/**
 * Response headers of services that clients do not get: the proxy sets them, or they reveal internals. `isForClient` also removes CORS headers.
 * `Write-Position` is removed later, by `freshness/receipts.ts`.
 */
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
  /** The value of `Content-Length`: 0 for a write without a body. Undefined for a read, which has none. */
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

/** On `GET` and `HEAD`, the proxy sets these headers itself. */
const negotiatedByProxy: ReadonlySet<string> = new Set(["accept", "accept-encoding"]);

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
  const connectionNames = parseConnectionNames(headers.connection);
  const hasTraceParent = isTraceParent(headers.traceparent);
  const serviceHeaders: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (!isForService(name) || connectionNames.has(name)) continue;
    if (name === "tracestate" && !hasTraceParent) continue;
    if (context.isRead && (negotiatedByProxy.has(name) || unsupportedOnReads.has(name))) continue;
    if (typeof value === "string") {
      serviceHeaders.push(name, value);
      continue;
    }
    for (const line of value ?? []) serviceHeaders.push(name, line);
  }
  addProxyRequestHeaders(serviceHeaders, request, context);
  return serviceHeaders;
}

function isForService(name: string): boolean {
  return !hopByHop.has(name) && !neverForwarded.has(name) && !name.startsWith("x-") && !name.includes("_");
}

function addProxyRequestHeaders(
  headers: string[],
  request: IncomingMessage,
  { requestId, traceParent, client, host, bodyBytes, isRead, mayBeShared }: ForwardingContext,
): void {
  const clientVia = request.headers.via;
  const proxyVia = `${request.httpVersion} ${viaName}`;
  if (isRead) headers.push("accept", "application/json", "accept-encoding", "identity");
  headers.push("x-request-id", requestId, "traceparent", traceParent);
  if (!mayBeShared) addForwarded(headers, client, host);
  headers.push("via", clientVia === undefined ? proxyVia : `${clientVia}, ${proxyVia}`);
  if (bodyBytes !== undefined) headers.push("content-length", String(bodyBytes));
}

function addForwarded(headers: string[], { address, protocol }: ClientAddress, host: string | undefined): void {
  headers.push("forwarded", forwardedElement(address, host, protocol));
  headers.push("x-forwarded-for", address, "x-forwarded-proto", protocol);
  if (host !== undefined) headers.push("x-forwarded-host", host);
}

/** One element of `Forwarded` (RFC 7239, 4), such as `for="[2001:db8::1]";host="api.example";proto=https`. */
function forwardedElement(address: string, host: string | undefined, protocol: string): string {
  const hostPair = host === undefined ? "" : `;host="${host}"`;
  return `for=${forwardedNode(address)}${hostPair};proto=${protocol}`;
}

/** The address is empty if the client has disconnected. An IPv6 address is in brackets and quoted (RFC 7239, 6). */
function forwardedNode(address: string): string {
  if (address === "") return "unknown";
  return address.includes(":") ? `"[${address}]"` : address;
}

/**
 * The headers of a service's response for clients and the cache, as alternating names and values. Removed are: hop-by-hop headers, headers that
 * `Connection` names, `notForClients`, and CORS headers, which the proxy sets itself.
 */
export function toClientHeaders(headers: readonly string[]): readonly string[] {
  const connectionNames = connectionNamesOf(headers);
  return withoutHeaders(headers, (name) => !isForClient(name) || connectionNames.has(name));
}

function isForClient(name: string): boolean {
  return !hopByHop.has(name) && !notForClients.has(name) && !name.startsWith("access-control-");
}

const noNames: ReadonlySet<string> = new Set();

/** The header names in `Connection`, in lower case: these headers are hop-by-hop too (RFC 9110, 7.6.1). */
export function connectionNamesOf(headers: readonly string[]): ReadonlySet<string> {
  const lines = listHeaderValues(headers, "connection");
  return lines.length === 0 ? noNames : parseConnectionNames(lines.join(","));
}

/** The most frequent values of `Connection`, which need no parsing: `close` names no header, and `Keep-Alive` is in `hopByHop`. */
const valuesWithoutEffect: ReadonlySet<string> = new Set(["keep-alive", "close", "Keep-Alive", "Close"]);

/** @param connection the value of `Connection`. */
function parseConnectionNames(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || valuesWithoutEffect.has(connection)) return noNames;
  return new Set(parseTokens(connection));
}

/**
 * Node, and so each service, rejects a request with a target and headers of more than 16 KiB. 1 KiB less, for the headers that are added after this
 * check: the cache's conditions, and `Host`, the deadline and the trace for each attempt (kit/src/upstream).
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
  for (const nameOrValue of headers) bytes += nameOrValue.length;
  if (bytes <= forwardedBytesMax) return;
  throw new AppError("HEADERS_TOO_LARGE", "The path, the query and the headers are too large together.");
}
