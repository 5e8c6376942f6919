import type { IncomingMessage } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { listHeaderLines, parseTokens, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { isTraceParent } from "@tributary/kit/http/trace-context";
import type { Client } from "../admit/clients.ts";

/** Hop-by-hop headers (RFC 9110, 7.6.1), with two that old clients add. */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that only the proxy sets, and headers about the identity or location of the client that do not begin with `x-`. */
const setByProxy: ReadonlySet<string> = new Set([
  "cf-connecting-ip",
  "client-ip",
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
]);

/** Response headers of services that clients do not get: the proxy sets them, or they reveal internals. */
const notForClients: ReadonlySet<string> = new Set([
  "api-version",
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
  readonly client: Client;
  /** The host that the client requested, validated. */
  readonly host: string | undefined;
  /** Undefined for a request without a body. */
  readonly bodyBytes: number | undefined;
  /**
   * `GET` and `HEAD`. The proxy has negotiated media type and content coding, and ignores what no route supports: the service gets none of these
   * fields, so that no response depends on what its cache key does not contain.
   */
  readonly isRead: boolean;
  /** The response may be stored for other clients, so the service does not learn who sends the request. */
  readonly isForOthers: boolean;
}

const negotiated: ReadonlySet<string> = new Set(["accept", "accept-encoding"]);

/** No route supports them for `GET` and `HEAD`: the cache cannot evaluate them, and a part or a 412 could not be shared (RFC 9110, 13.1 and 14.2). */
const unsupportedOnReads: ReadonlySet<string> = new Set(["if-match", "if-range", "if-unmodified-since", "range"]);

/**
 * The headers that a service gets, as alternating names and values. Removed are: hop-by-hop headers, headers that `Connection` names, `x-` headers
 * and names with an underscore (they may claim an identity, an address, a deadline or another method; CGI-like servers read `_` as `-`). Then the
 * proxy adds its own headers, so that a client cannot remove them by naming them in `Connection`.
 */
export function toServiceHeaders(request: IncomingMessage, context: ForwardingContext): string[] {
  const { headers } = request;
  const dropped = namedInConnection(headers.connection);
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
  return !hopByHop.has(name) && !setByProxy.has(name) && !name.startsWith("x-") && !name.includes("_");
}

function addProxyRequestHeaders(
  list: string[],
  request: IncomingMessage,
  { requestId, traceParent, client, host, bodyBytes, isRead, isForOthers }: ForwardingContext,
): void {
  const { via } = request.headers;
  if (isRead) list.push("accept", "application/json", "accept-encoding", "identity");
  list.push("x-request-id", requestId, "traceparent", traceParent);
  if (!isForOthers) addForwarded(list, client, host);
  list.push("via", `${via === undefined ? "" : `${via}, `}${request.httpVersion} ${viaName}`);
  if (bodyBytes !== undefined) list.push("content-length", String(bodyBytes));
}

function addForwarded(list: string[], { address, protocol }: Client, host: string | undefined): void {
  list.push("forwarded", forwardedElement(address, host, protocol));
  list.push("x-forwarded-for", address, "x-forwarded-proto", protocol);
  if (host !== undefined) list.push("x-forwarded-host", host);
}

/** RFC 7239, 4: an IPv6 address and a host with a port are quoted. */
function forwardedElement(address: string, host: string | undefined, protocol: string): string {
  const node = address.includes(":") ? `"[${address}]"` : address || "unknown";
  return [`for=${node}`, ...(host === undefined ? [] : [`host="${host}"`]), `proto=${protocol}`].join(";");
}

/**
 * The headers of a service's response for clients and the cache: alternating names and values as received. Hop-by-hop headers are not stored either
 * (RFC 9111, 3.1).
 */
export function toClientHeaders(headers: readonly string[]): readonly string[] {
  const dropped = namesInConnection(headers);
  return withoutHeaders(headers, (name) => !isForClient(name) || dropped.has(name));
}

function isForClient(name: string): boolean {
  return !hopByHop.has(name) && !notForClients.has(name) && !name.startsWith("access-control-");
}

const noNames: ReadonlySet<string> = new Set();

/** The header names in `Connection`, in lower case: they are hop-by-hop too (RFC 9110, 7.6.1). */
export function namesInConnection(headers: readonly string[]): ReadonlySet<string> {
  const [first, ...others] = listHeaderLines(headers, "connection");
  return others.length === 0 ? namedInConnection(first) : namedInConnection([first, ...others].join(","));
}

/** The most frequent values, which name no header that would be forwarded. */
const withoutNames: ReadonlySet<string> = new Set(["keep-alive", "close", "Keep-Alive", "Close"]);

function namedInConnection(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || withoutNames.has(connection)) return noNames;
  return new Set(parseTokens(connection));
}

/** Services reject headers larger than 16 KiB, as Node does by default. The rest is for what is added later: conditions, host, deadline. */
const forwardedBytesMax = 15_360;

/**
 * The proxy adds headers, and encodes a `+` of the query as `%20`. A service would reject what is then too large without a problem document, and
 * close a connection that other requests use, so the proxy rejects it.
 * @throws AppError HEADERS_TOO_LARGE.
 */
export function requireFittingHeaders(target: string, headers: readonly string[]): void {
  // Node counts names, values and the target. All are Latin-1 by now: a character is a byte.
  let bytes = target.length;
  for (const part of headers) bytes += part.length;
  if (bytes <= forwardedBytesMax) return;
  throw new AppError("HEADERS_TOO_LARGE", "The path, the query and the headers are too large together.");
}
