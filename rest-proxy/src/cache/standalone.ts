import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { withoutHeaders } from "@tributary/kit/http/raw-headers";
import { createHttpOrigin } from "./http-origin.ts";
import type { OriginRequest } from "./origin.ts";
import { unchangedHeaders, createSharedCache, type OriginFetchers } from "./shared-cache.ts";

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

/** The cache in front of any origin: every request of every method goes there unless something stored answers it. */
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

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "/";
    const host = request.headers.host ?? origin.host;
    const key = `${origin.protocol}//${host}${target}`;
    const lookup = { origin: origin.origin, key, request, selecting: (field: string) => selecting(request, field) };
    const fresh = cache.findFresh(lookup);
    if (fresh) return void response.writeHead(fresh.status, fresh.headers).end(fresh.body);
    const forClient = (asked: OriginRequest) => http.ask(target, asked, hasBody(request) ? request : undefined);
    const background = (asked: OriginRequest) => http.ask(target, asked, undefined);
    const ways: OriginFetchers = { headers: withHost(request, host), forClient, background };
    await cache.respond(lookup, response, ways, unchangedHeaders);
  }

  return {
    handler: (request, response) => void answer(request, response).catch(() => refuse(response)),
    async close() {
      await cache.close();
      http.close();
    },
  };
}

function refuse(response: ServerResponse): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(502, { "Content-Length": 0 }).end();
}

/** An absolute URI without its fragment; a reference to another origin has no key here (RFC 9111, 4.4). */
function keysOf(reference: string, key: string): readonly string[] {
  const url = URL.parse(reference, key);
  if (!url || url.origin !== new URL(key).origin) return [];
  url.hash = "";
  return [url.href];
}

/** Lists that differ in spaces only select the same (RFC 9111, 4.1), and languages have no case (RFC 5646, 2.1.1). */
function selecting({ headers }: IncomingMessage, field: string): string | undefined {
  const value = headers[field];
  const text = Array.isArray(value) ? value.join(",") : value;
  const normal = text
    ?.split(",")
    .map((member) => member.trim())
    .join(",");
  return field === "accept-language" ? normal?.toLowerCase() : normal;
}

function withHost({ rawHeaders }: IncomingMessage, host: string): string[] {
  return ["Host", host, ...withoutHeaders(rawHeaders, (field) => field === "host" || field === "expect")];
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
