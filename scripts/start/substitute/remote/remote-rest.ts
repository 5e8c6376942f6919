// The REST half of a remote substitute: forwards a request to the remote's REST proxy.
import { createDisconnectSignal } from "@tributary/kit/http/abort-source";
import { AppError } from "@tributary/kit/errors/app-error";
import { writeProblem } from "@tributary/kit/http/problem";
import { forEachHeader, splitLinks, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { readRequestId } from "@tributary/kit/http/request-id";
import { decodeRawHeaders } from "@tributary/kit/upstream/transport";
import { createBufferedTransport, openPool } from "@tributary/kit/upstream/undici-transport";
import { createUpstream } from "@tributary/kit/upstream/upstream";
import type { RestForwarder } from "../server.ts";

const timeoutMs = 30_000;
const bodyBytesMax = 20_000_000;
const requestsMax = 256;
const connectTimeoutMs = 5_000;

/** Of one connection (RFC 9110, section 7.6.1), or written by the transport. */
const connectionHeaders = [
  "connection",
  "host",
  "content-length",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/**
 * Written by the remote's REST proxy; the local REST proxy adds its own. Headers such as the remote's `Consistency-Token` are not listed,
 * because the local REST proxy never forwards them.
 */
const proxyHeaders = ["ratelimit", "ratelimit-policy", "deprecation", "sunset", "cache-status", "date"];
/** The only link that a REST proxy writes. The services write the others, those to the pages of a list. */
const successorLink = /;\s*rel="?successor-version\b/;

const droppedRequestHeaders = new Set([...connectionHeaders, "accept-encoding", "expect"]);
const droppedResponseHeaders = new Set([...connectionHeaders, ...proxyHeaders]);

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** @param origin of the remote's REST proxy. */
export function createRestForwarder(origin: string): RestForwarder & { close(): Promise<void> } {
  const transport = createBufferedTransport(bodyBytesMax);
  const upstream = createUpstream({
    urls: [origin],
    requestsMax,
    open: (address) => openPool(address, { connectionsMax: requestsMax, connectTimeoutMs }),
    close: (pool) => pool.close(),
    probeTransport: transport,
  });
  return {
    async forward(request, response, body) {
      const { method = "GET", url = "/", rawHeaders } = request;
      const result = await upstream.send(
        {
          method,
          path: url,
          headers: withoutHeaders(rawHeaders, (name) => droppedRequestHeaders.has(name)),
          body: body.length > 0 ? body : undefined,
          isIdempotent: safeMethods.has(method),
          timeoutMs,
          signal: createDisconnectSignal(response),
        },
        transport,
      );
      if (result.kind === "failed") {
        const error = new AppError("SERVICE_UNAVAILABLE", "The REST proxy of the remote does not respond.");
        const requestId = readRequestId(request.headers["x-request-id"]);
        writeProblem(response, error, { instance: url.split("?", 1)[0], requestId });
        return;
      }
      response.writeHead(result.status, toServiceHeaders(decodeRawHeaders(result.rawHeaders))).end(result.body);
    },
    close: () => upstream.close(),
  };
}

/** The headers that the service itself sent, from those of the remote's REST proxy. */
function toServiceHeaders(proxied: readonly string[]): string[] {
  const headers: string[] = [];
  forEachHeader(proxied, (name, value) => {
    const lowerName = name.toLowerCase();
    if (droppedResponseHeaders.has(lowerName)) return;
    const remaining = lowerName === "link" ? withoutSuccessor(value) : value;
    if (remaining !== "") headers.push(name, remaining);
  });
  return headers;
}

function withoutSuccessor(line: string): string {
  const links = splitLinks(line).filter((link) => !successorLink.test(link));
  return links.join(", ");
}
