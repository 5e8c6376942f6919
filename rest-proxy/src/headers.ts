import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { createTraceParent, isTraceParent, readTraceContext } from "@tributary/kit/trace-context";

/** Meant for one connection only (RFC 9110, 7.6.1), with the two that old clients add. */
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

/** What only the proxy may say to a service, or what speaks of who or where the caller is and does not begin with `x-`. */
const saidByUs: ReadonlySet<string> = new Set([
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

/** What a service does not get to say to a client: the proxy says it, or it tells of the inside. */
const keptFromClients: ReadonlySet<string> = new Set(["api-version", "server", "x-powered-by", "x-request-id"]);

/** The name in `Via`: a pseudonym, for the host's name is nobody's business (RFC 9110, 7.6.3). */
const viaName = "tributary-rest-proxy";

export interface AboutForwarding {
  readonly requestId: string;
  /** The host that the client asked, checked. */
  readonly host: string | undefined;
  /** Undefined for a request without a body. */
  readonly bodyBytes: number | undefined;
}

/**
 * The headers that a service gets. Gone are: what was meant for this connection, everything that `Connection` names, every `x-` header and
 * every name with an underscore (identity, forwarding and method override all live there; CGI-like servers read `_` as `-`). What the proxy
 * knows by itself is then set anew, so that nothing of it can be taken away by naming it in `Connection` either.
 */
export function toServiceHeaders(request: IncomingMessage, about: AboutForwarding): IncomingHttpHeaders {
  const { headers } = request;
  const dropped = namedInConnection(headers.connection);
  const kept: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (isForService(name) && !dropped.has(name)) kept[name] = value;
  }
  if (!isTraceParent(headers.traceparent)) delete kept["tracestate"];
  return Object.assign(kept, ownHeaders(request, about));
}

function isForService(name: string): boolean {
  return !hopByHop.has(name) && !saidByUs.has(name) && !name.startsWith("x-") && !name.includes("_");
}

function ownHeaders(request: IncomingMessage, { requestId, host, bodyBytes }: AboutForwarding): IncomingHttpHeaders {
  const { traceparent, via } = request.headers;
  const address = (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  const protocol = "encrypted" in request.socket ? "https" : "http";
  return {
    "x-request-id": requestId,
    traceparent: isTraceParent(traceparent) ? traceparent : createTraceParent(readTraceContext(undefined)),
    forwarded: forwardedElement(address, host, protocol),
    "x-forwarded-for": address,
    "x-forwarded-proto": protocol,
    ...(host === undefined ? {} : { "x-forwarded-host": host }),
    via: `${via === undefined ? "" : `${via}, `}${request.httpVersion} ${viaName}`,
    ...(bodyBytes === undefined ? {} : { "content-length": String(bodyBytes) }),
  };
}

/** RFC 7239, 4: an IPv6 address and a host with a port are quoted. */
function forwardedElement(address: string, host: string | undefined, protocol: string): string {
  const node = address.includes(":") ? `"[${address}]"` : address || "unknown";
  return [`for=${node}`, ...(host === undefined ? [] : [`host="${host}"`]), `proto=${protocol}`].join(";");
}

/** The headers of a service's answer that a client gets. */
export function toClientHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const dropped = namedInConnection(headers.connection);
  const kept: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (isForClient(name) && !dropped.has(name)) kept[name] = value;
  }
  return kept;
}

function isForClient(name: string): boolean {
  return !hopByHop.has(name) && !keptFromClients.has(name) && !name.startsWith("access-control-");
}

/** `Vary` of both in one: the service's, and what the proxy added. */
export function joinVary(ours: string | undefined, theirs: string | undefined): string | undefined {
  const names = [ours, theirs].flatMap((value) => value?.split(",") ?? []).map((name) => name.trim());
  const unique = new Map(names.filter((name) => name !== "").map((name) => [name.toLowerCase(), name]));
  return unique.size === 0 ? undefined : [...unique.values()].join(", ");
}

function namedInConnection(connection: string | undefined): ReadonlySet<string> {
  return new Set((connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
}
