// Stage 5 of 5: shape. Sends all responses, except those of Express (preflights, GraphiQL) and of admit/broken-request.ts.
import type { ServerResponse as Response } from "node:http";
import type { ContentCoding } from "@tributary/kit/http/accept";
import { compressedBytesMin, type Compression } from "@tributary/kit/http/compression";
import { matchesIfNoneMatch } from "@tributary/kit/http/etag";
import { hasHeader } from "@tributary/kit/http/raw-headers";
import { isForSharedCaches } from "@tributary/kit/http/request-id";
import { ServerResponse } from "@tributary/kit/process/node-http";
import { closeIfUnread } from "@tributary/kit/process/pending-responses";
import type { GatewayExchange } from "../admit/exchange.ts";
import { statuses } from "../errors/statuses.ts";
import type { GatewayObserver } from "../observations.ts";
import { releaseBytes } from "../release-bytes.ts";
import type { ClientResponse } from "../response.ts";

/** Sends nothing if the client has disconnected, or if a response was sent before. */
export type SendResponse = (exchange: GatewayExchange, response: ClientResponse) => void;

export interface ResponseSenderOptions {
  /** A response that the client does not read is held in memory. */
  readonly responseTimeoutMs: number;
  readonly compression: Compression;
  readonly observe: GatewayObserver;
}

/** node:http sends a string (latin1 keeps the bytes) in one write with the head; a longer body would cost an extra copy. */
const stringBytesMax = 16_384;

export function createResponseSender({ responseTimeoutMs, compression, observe }: ResponseSenderOptions): SendResponse {
  function send(
    exchange: GatewayExchange,
    clientResponse: ClientResponse,
    body: Buffer,
    isOwn: boolean,
    encoding: ContentCoding | undefined,
  ): void {
    const { request, response, requestId, trace } = exchange;
    if (response.destroyed || response.headersSent) return;
    // HTTP does not define 294: Node would send "unknown".
    if (clientResponse.status === statuses.resultWithErrors.draft) response.statusMessage = "Partial Success";
    response.writeHead(
      clientResponse.status,
      withOwnOf(response, listHeaders(exchange, clientResponse, body, encoding)),
    );
    if (request.method === "HEAD") response.end();
    else if (body.length > stringBytesMax)
      response.end(body, isOwn && isPlain(response) ? () => releaseBytes(body) : undefined);
    else response.end(body.toString("latin1"), "latin1");
    const reportTruncation = () => observe({ kind: "response-truncated", requestId, traceId: trace.traceId });
    closeIfUnread(response, responseTimeoutMs, reportTruncation);
  }

  return (exchange, clientResponse) => {
    const { body, isOwn = false, summary } = clientResponse;
    exchange.record?.setResult(summary);
    const isLongEnough = body.length >= compressedBytesMin;
    const encoding = isLongEnough ? compression.chooseCoding(exchange.request.headers["accept-encoding"]) : undefined;
    if (isNotModified(exchange, clientResponse, encoding)) return sendNotModified(exchange, clientResponse, encoding);
    const sendUncompressed = () => send(exchange, clientResponse, body, isOwn, undefined);
    if (encoding === undefined || compression.isFull()) return sendUncompressed();
    const sendCompressed = (compressed: Buffer) => {
      if (isOwn) releaseBytes(body);
      send(exchange, clientResponse, compressed, true, encoding);
    };
    // Compression can fail for lack of memory.
    const isWanted = () => !exchange.response.destroyed;
    void compression.compress(body, encoding, isWanted).then(sendCompressed, sendUncompressed);
  };
}

/** Middleware of a program that embeds the gateway replaces these methods, and may keep what they get. */
function isPlain({ end, write }: Response): boolean {
  return end === ServerResponse.prototype.end && write === ServerResponse.prototype.write;
}

/** With what a program that embeds the gateway has set: `writeHead` would replace it. */
function withOwnOf(response: Response, headers: string[]): string[] {
  const vary = response.getHeader("Vary");
  const cookies = response.getHeader("Set-Cookie");
  if (vary === undefined && cookies === undefined) return headers;
  const toLines = (name: string, value: ReturnType<Response["getHeader"]>) =>
    [value ?? []].flat().flatMap((text) => [name, String(text)]);
  return [...toLines("Vary", vary), ...toLines("Set-Cookie", cookies), ...headers];
}

/** A strong validator differs between codings (RFC 9110, 8.8.3.3). */
function etagOf({ etag }: ClientResponse, encoding: ContentCoding | undefined): string | undefined {
  if (etag === undefined) return undefined;
  return encoding === undefined ? `"${etag}"` : `"${etag}-${encoding}"`;
}

function isNotModified(
  { request }: GatewayExchange,
  response: ClientResponse,
  encoding: ContentCoding | undefined,
): boolean {
  const etag = etagOf(response, encoding);
  const ifNoneMatch = request.headers["if-none-match"];
  return etag !== undefined && ifNoneMatch !== undefined && matchesIfNoneMatch(ifNoneMatch, etag);
}

/** RFC 9110, 15.4.5. */
function sendNotModified(
  { response, headers }: GatewayExchange,
  clientResponse: ClientResponse,
  encoding: ContentCoding | undefined,
): void {
  if (response.destroyed || response.headersSent) return;
  const validator = ["ETag", etagOf(clientResponse, encoding) ?? ""];
  const list = [...headers, ...(clientResponse.headers ?? []), ...validator];
  response.writeHead(304, withOwnOf(response, list)).end();
}

/** A raw list, which node:http sends without building a table first. */
function listHeaders(
  exchange: GatewayExchange,
  response: ClientResponse,
  body: Buffer,
  encoding: ContentCoding | undefined,
): string[] {
  const isShared = response.headers !== undefined && isForSharedCaches(response.headers);
  const ids = isShared ? [] : exchange.ids;
  const headers = ids.concat(exchange.headers, "Content-Type", response.contentType);
  if (response.headers) headers.push(...response.headers);
  headers.push("X-Content-Type-Options", "nosniff");
  if (!response.headers || !hasHeader(response.headers, "cache-control")) headers.push("Cache-Control", "no-store");
  const etag = etagOf(response, encoding);
  if (etag !== undefined) headers.push("ETag", etag);
  if (encoding !== undefined) headers.push("Content-Encoding", encoding);
  headers.push("Content-Length", String(body.length));
  return headers;
}
