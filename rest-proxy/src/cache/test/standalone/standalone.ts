/**
 * The shared cache in front of any HTTP origin, for the public tests (`npm run verify:cache`). Clients' `Cache-Control` counts in full, and heuristic
 * freshness applies to every response.
 */
import {
  Agent,
  type IncomingMessage,
  request as createOutgoing,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { withoutHeaders } from "@tributary/kit/http/raw-headers";
import type { OriginFetchers, OriginRequest, OriginResponse } from "../../cache-request.ts";
import { endToEndHeaders } from "../../entry.ts";
import { addNoHeaders } from "../../write-response.ts";
import { createSharedCache } from "../../shared-cache.ts";
import { normalizedHeader } from "../../vary.ts";
import { fullRequestRules } from "./request-rules.ts";

export interface Standalone {
  readonly handler: RequestListener;
  close(): Promise<void>;
}

export interface StandaloneOptions {
  readonly origin: URL;
  readonly nowMs: () => number;
}

const mebibyteBytes = 1_048_576;
/** A day. */
const heuristicSecondsMax = 86_400;
const cacheStatusName = "tributary";

export function createStandalone({ origin, nowMs }: StandaloneOptions): Standalone {
  const http = createHttpOrigin(origin);
  const cache = createSharedCache({
    name: cacheStatusName,
    bytesMax: 256 * mebibyteBytes,
    entryBytesMax: 8 * mebibyteBytes,
    entriesMax: 100_000,
    variantsMax: 32,
    backgroundMax: 256,
    requestRules: fullRequestRules,
    nowMs,
    keysOf,
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "/";
    const host = request.headers.host ?? origin.host;
    // With the host that the client requested, since the origin may serve several hosts.
    const key = `${origin.protocol}//${host}${target}`;
    const lookup = {
      origin: origin.origin,
      key,
      request,
      varyValueOf: (field: string) => normalizedHeader(request.headers, field),
      heuristicSecondsMax,
    };
    const fresh = cache.findFresh(lookup);
    if (fresh) {
      response.writeHead(fresh.status, fresh.headers).end(fresh.body);
      return;
    }
    const isGet = request.method === "GET";
    const fetchers: OriginFetchers = {
      headers: withHost(request, host),
      // Several clients may wait for the response to a GET.
      fetch: (originRequest) => http.fetch(target, originRequest, isGet || !hasBody(request) ? undefined : request),
    };
    await cache.respond({ lookup, response, fetchers, addHeaders: addNoHeaders });
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
  if (response.headersSent) response.destroy();
  else response.writeHead(502, { "Content-Length": 0 }).end();
}

/** A URI reference, such as `Location`, as a key; none for another origin (RFC 9111, 4.4). */
function keysOf(reference: string, key: string): readonly string[] {
  const url = URL.parse(reference, key);
  if (!url || url.origin !== new URL(key).origin) return [];
  url.hash = "";
  return [url.href];
}

/** Without `Expect`: Node's server has already sent 100 (Continue) to the client. */
function withHost({ rawHeaders }: IncomingMessage, host: string): string[] {
  return ["Host", host, ...withoutHeaders(rawHeaders, (field) => field === "host" || field === "expect")];
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Without retries or redirects. */
export interface HttpOrigin {
  fetch(target: string, request: OriginRequest, body: IncomingMessage | undefined): Promise<OriginResponse>;
  close(): void;
}

export function createHttpOrigin(origin: URL): HttpOrigin {
  const agent = new Agent({ keepAlive: true });

  return {
    fetch: (target, { method, headers, signal }, body) =>
      new Promise((resolve, reject) => {
        const outgoing = createOutgoing({
          agent,
          method,
          path: target,
          headers: [...endToEndHeaders(headers), ...framingHeaders(body)],
          host: origin.hostname,
          port: origin.port,
          setHost: false,
        });
        const abort = () => {
          outgoing.destroy(new Error("aborted"));
        };
        signal.addEventListener("abort", abort);
        outgoing.once("close", () => signal.removeEventListener("abort", abort));
        outgoing.once("error", reject);
        outgoing.once("response", (incoming) => {
          // The origin may truncate the response before the cache listens for errors, and an error without a listener ends the process.
          incoming.on("error", () => {});
          resolve({
            status: incoming.statusCode ?? 502,
            headers: endToEndHeaders(incoming.rawHeaders),
            body: incoming,
          });
        });
        if (signal.aborted) abort();
        if (!body) {
          outgoing.end();
          return;
        }
        // An origin that responds early, or not at all, must not close the client's connection.
        outgoing.once("close", () => body.unpipe(outgoing).resume());
        body.pipe(outgoing);
      }),
    close: () => agent.destroy(),
  };
}

/** A body that the client sent in chunks is sent in chunks again: its own `Transfer-Encoding` was removed as hop-by-hop (RFC 9112, 6.1). */
function framingHeaders(body: IncomingMessage | undefined): readonly string[] {
  return body && body.headers["transfer-encoding"] !== undefined ? ["Transfer-Encoding", "chunked"] : [];
}
