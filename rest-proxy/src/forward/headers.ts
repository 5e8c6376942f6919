/** Which headers the proxy forwards, of requests and of responses. */
import type { IncomingMessage } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { connectionNamesOf, isHopByHop, parseConnectionNames, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { isTraceParent } from "@tributary/kit/http/trace-context";
import type { ClientAddress } from "@tributary/kit/caller/client-address";

/** Handled or set by the proxy, could claim another identity or address, or (`Write-Position`) only for services to send. */
const neverForwarded: ReadonlySet<string> = new Set([
  "accept",
  "cf-connecting-ip",
  "client-ip",
  "consistency-token",
  "content-length",
  "content-type",
  "expect",
  "fastly-client-ip",
  "forwarded",
  "host",
  "proxy", // CGI-like servers set HTTP_PROXY from it.
  "remote-addr",
  "remote-user",
  "traceparent",
  "true-client-ip",
  "via",
  "write-position",
]);

/** The proxy sets these, or they reveal internals. `isForClient` also removes CORS headers, `freshness/receipts.ts` `Write-Position`. */
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

/** Instead of the host name in `Via` (RFC 9110, 7.6.3). */
const viaName = "tributary-rest-proxy";

export interface ForwardingContext {
  readonly requestId: string;
  readonly traceParent: string;
  readonly client: ClientAddress;
  /** Validated. Undefined if the client named none: an empty `Host`, or HTTP/1.0. */
  readonly host: string | undefined;
  /** 0 for a write without a body, undefined for a read. */
  readonly bodyBytes: number | undefined;
  /** `GET` or `HEAD`. The proxy negotiates the content coding itself. */
  readonly isRead: boolean;
  /** Undefined for a request without a body. */
  readonly contentType: string | undefined;
  /** The response must not depend on `Forwarded` and `Cookie`, which are left out. For `Authorization`, the cache has rules (RFC 9111, 3.5). */
  readonly mayBeShared: boolean;
}

/** The content coding is negotiated by the proxy, and a partial response or a 412 could not be cached (RFC 9110, 13.1 and 14.2). */
const notOnReads: ReadonlySet<string> = new Set([
  "accept-encoding",
  "if-match",
  "if-range",
  "if-unmodified-since",
  "range",
]);

/**
 * Also removes what `Connection` names, `x-` headers and names with an underscore (they may claim an identity, an address, a deadline or another
 * method; CGI-like servers read `_` as `-`), and `Tracestate` without a valid `Traceparent`. The proxy adds its own headers last, so a client cannot
 * remove them by `Connection`.
 */
export function toServiceHeaders(request: IncomingMessage, context: ForwardingContext): string[] {
  const { headers } = request;
  const connectionNames = parseConnectionNames(headers.connection);
  const hasTraceParent = isTraceParent(headers.traceparent);
  const serviceHeaders: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (!isForService(name) || connectionNames.has(name)) continue;
    if (name === "tracestate" && !hasTraceParent) continue;
    if (name === "cookie" && context.mayBeShared) continue;
    if (context.isRead && notOnReads.has(name)) continue;
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
  return !isHopByHop(name) && !neverForwarded.has(name) && !name.startsWith("x-") && !name.includes("_");
}

function addProxyRequestHeaders(
  headers: string[],
  request: IncomingMessage,
  { requestId, traceParent, client, host, bodyBytes, isRead, contentType, mayBeShared }: ForwardingContext,
): void {
  const clientVia = request.headers.via;
  const proxyVia = `${request.httpVersion} ${viaName}`;
  headers.push("accept", "application/json");
  if (isRead) headers.push("accept-encoding", "identity");
  headers.push("x-request-id", requestId, "traceparent", traceParent);
  if (!mayBeShared) addForwarded(headers, client, host);
  headers.push("via", clientVia === undefined ? proxyVia : `${clientVia}, ${proxyVia}`);
  if (contentType !== undefined) headers.push("content-type", contentType);
  if (bodyBytes !== undefined) headers.push("content-length", String(bodyBytes));
}

function addForwarded(headers: string[], { address, protocol }: ClientAddress, host: string | undefined): void {
  headers.push("forwarded", forwardedElement(address, host, protocol));
  headers.push("x-forwarded-for", address, "x-forwarded-proto", protocol);
  if (host !== undefined) headers.push("x-forwarded-host", host);
}

/** RFC 7239, 4: `for="[2001:db8::1]";host="api.example";proto=https`. */
function forwardedElement(address: string, host: string | undefined, protocol: string): string {
  const hostPair = host === undefined ? "" : `;host="${host}"`;
  return `for=${forwardedNode(address)}${hostPair};proto=${protocol}`;
}

/** Empty if the client has disconnected. An IPv6 address is quoted, in brackets (RFC 7239, 6). */
function forwardedNode(address: string): string {
  if (address === "") return "unknown";
  return address.includes(":") ? `"[${address}]"` : address;
}

/** A 204 must have no `Content-Length`, and that of a 304 would have to be that of the 200 (RFC 9110, 8.6). */
const statusesWithoutLength: ReadonlySet<number> = new Set([204, 304]);

/** Removes hop-by-hop headers, what `Connection` names, `notForClients`, and CORS headers, which the proxy sets itself. */
export function toClientHeaders(headers: readonly string[], status: number): readonly string[] {
  const connectionNames = connectionNamesOf(headers);
  const hasNoLength = statusesWithoutLength.has(status);
  return withoutHeaders(
    headers,
    (name) => !isForClient(name) || connectionNames.has(name) || (hasNoLength && name === "content-length"),
  );
}

function isForClient(name: string): boolean {
  return !isHopByHop(name) && !notForClients.has(name) && !name.startsWith("access-control-");
}

/** Node rejects more than 16 KiB. 1 KiB less, for what is added later: conditions of the cache, `Host`, deadline and trace. */
const forwardedBytesMax = 15_360;

/**
 * The proxy adds headers, and its canonical query may be longer than the client's (`+` becomes `%20`). The service would reject the request without a
 * problem document and close the connection.
 * @throws AppError HEADERS_TOO_LARGE.
 */
export function requireFittingHeaders(target: string, headers: readonly string[]): void {
  // As Node counts. The target is ASCII, and headers are Latin-1, so each character is a byte.
  let bytes = target.length;
  for (const nameOrValue of headers) bytes += nameOrValue.length;
  if (bytes <= forwardedBytesMax) return;
  throw new AppError("HEADERS_TOO_LARGE", "The path, the query and the headers are too large together.");
}
