/** The cache as a server in front of any HTTP origin, for http-tests/cache-tests. It obeys clients' directives. */
import { Agent, type IncomingMessage, request as send, type RequestListener, type ServerResponse } from "node:http";
import { withoutHeaders } from "@tributary/kit/http/raw-headers";
import type { OriginFetchers, OriginRequest, OriginResponse } from "../cache-request.ts";
import { storedHeaders } from "../entry.ts";
import { unchangedHeaders } from "../respond.ts";
import { createSharedCache } from "../shared-cache.ts";

export interface Standalone {
  readonly handler: RequestListener;
  close(): Promise<void>;
}

export interface StandaloneOptions {
  /** Scheme, host and port. */
  readonly origin: URL;
  readonly nowMs: () => number;
}

const mebibyte = 1_048_576;
const name = "tributary";

export function createStandalone({ origin, nowMs }: StandaloneOptions): Standalone {
  const http = createHttpOrigin(origin);
  const cache = createSharedCache({
    name,
    bytesMax: 256 * mebibyte,
    entryBytesMax: 8 * mebibyte,
    entriesMax: 100_000,
    variantsMax: 32,
    backgroundMax: 256,
    targetedFields: ["cdn-cache-control"],
    heuristicSecondsMax: 86_400,
    obeysRequests: true,
    nowMs,
    keysOf,
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "/";
    const host = request.headers.host ?? origin.host;
    const key = `${origin.protocol}//${host}${target}`;
    const lookup = { origin: origin.origin, key, request, selecting: (field: string) => selecting(request, field) };
    const fresh = cache.findFresh(lookup);
    if (fresh) return void response.writeHead(fresh.status, fresh.headers).end(fresh.body);
    const fetchers: OriginFetchers = {
      headers: withHost(request, host),
      forClient: (originRequest) => http.fetch(target, originRequest, hasBody(request) ? request : undefined),
      background: (originRequest) => http.fetch(target, originRequest, undefined),
    };
    await cache.respond(lookup, response, fetchers, unchangedHeaders);
  }

  return {
    handler: (request, response) => void respond(request, response).catch(() => respondBadGateway(response)),
    async close() {
      await cache.close();
      http.close();
    },
  };
}

function respondBadGateway(response: ServerResponse): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(502, { "Content-Length": 0 }).end();
}

/** The absolute URI without its fragment; none for a reference to another origin (RFC 9111, 4.4). */
function keysOf(reference: string, key: string): readonly string[] {
  const url = URL.parse(reference, key);
  if (!url || url.origin !== new URL(key).origin) return [];
  url.hash = "";
  return [url.href];
}

/** Lists that differ only in spaces select the same (RFC 9111, 4.1), and language tags are case-insensitive (RFC 5646, 2.1.1). */
function selecting({ headers }: IncomingMessage, field: string): string | undefined {
  const value = headers[field];
  const text = Array.isArray(value) ? value.join(",") : value;
  const normalized = text
    ?.split(",")
    .map((member) => member.trim())
    .join(",");
  return field === "accept-language" ? normalized?.toLowerCase() : normalized;
}

function withHost({ rawHeaders }: IncomingMessage, host: string): string[] {
  return ["Host", host, ...withoutHeaders(rawHeaders, (field) => field === "host" || field === "expect")];
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** One HTTP origin over node:http: headers and body unchanged, no retries, no redirects. */
export interface HttpOrigin {
  /** @param body is streamed to the origin; undefined for a request without a body. */
  fetch(target: string, request: OriginRequest, body: IncomingMessage | undefined): Promise<OriginResponse>;
  close(): void;
}

export function createHttpOrigin(origin: URL): HttpOrigin {
  const agent = new Agent({ keepAlive: true });

  return {
    fetch: (target, { method, headers, signal }, body) =>
      new Promise((resolve, reject) => {
        const outgoing = send({
          ...{ agent, method, path: target, headers: [...storedHeaders(headers), ...framingHeaders(body)] },
          host: origin.hostname,
          port: origin.port,
          setHost: false,
        });
        const abort = () => void outgoing.destroy(new Error("aborted"));
        signal.addEventListener("abort", abort);
        outgoing.once("close", () => signal.removeEventListener("abort", abort));
        outgoing.once("error", reject);
        outgoing.once("response", (incoming) => {
          // It may be truncated before it is read.
          incoming.on("error", () => {});
          resolve({ status: incoming.statusCode ?? 502, headers: storedHeaders(incoming.rawHeaders), body: incoming });
        });
        if (signal.aborted) abort();
        if (!body) return void outgoing.end();
        // An origin that responds early, or not at all, must not close the client's connection.
        outgoing.once("close", () => body.unpipe(outgoing).resume());
        body.pipe(outgoing);
      }),
    close: () => agent.destroy(),
  };
}

/** A body of unknown length is sent in chunks again (RFC 9112, 6.1); the client's own `Transfer-Encoding` is hop-by-hop. */
function framingHeaders(body: IncomingMessage | undefined): readonly string[] {
  return body && body.headers["transfer-encoding"] !== undefined ? ["Transfer-Encoding", "chunked"] : [];
}
