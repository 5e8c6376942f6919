// Sends a response to the client, compressed if the client accepts a coding. All responses are sent here, except those of
// Express (preflights, GraphiQL) and of admit/broken-request.ts.
import type { ServerResponse } from "node:http";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type ContentCoding, chooseContentCoding } from "@tributary/kit/http/accept";
import { matchesIfNoneMatch } from "@tributary/kit/http/etag";
import type { GatewayExchange } from "../admit/exchange.ts";
import type { GatewayObserver } from "../observations.ts";
import type { ClientResponse } from "../response.ts";

/**
 * Sets the outcome of the request's record, then sends the response: at once, or after it is compressed. Sends nothing if the client has
 * disconnected, or if a response was sent before.
 */
export type SendResponse = (exchange: GatewayExchange, response: ClientResponse) => void;

export interface ResponseSenderOptions {
  /** A response that the client does not read is held in memory, so its connection is closed after this time. */
  readonly responseTimeoutMs: number;
  readonly observe: GatewayObserver;
}

/** Smaller bodies are not compressed: compression would cost more than it saves. */
const compressedBytesMin = 1_024;

/**
 * A body up to this length is sent as a string, which node:http sends in one write with the head; a buffer needs a second write. latin1 keeps the
 * bytes unchanged. A longer body would cost an extra copy.
 */
const stringBytesMax = 16_384;

export function createResponseSender({ responseTimeoutMs, observe }: ResponseSenderOptions): SendResponse {
  function send(
    exchange: GatewayExchange,
    clientResponse: ClientResponse,
    body: Buffer,
    encoding: ContentCoding | undefined,
  ): void {
    const { request, response, requestId, trace } = exchange;
    if (response.destroyed || response.headersSent) return;
    response.writeHead(clientResponse.status, listHeaders(exchange, clientResponse, body, encoding));
    if (request.method === "HEAD") response.end();
    else if (body.length > stringBytesMax) response.end(body);
    else response.end(body.toString("latin1"), "latin1");
    if (!hasUnsentBytes(response)) return;
    const reportTruncation = () => observe({ kind: "response-truncated", requestId, traceId: trace.traceId });
    closeAfter(response, responseTimeoutMs, reportTruncation);
  }

  return (exchange, clientResponse) => {
    const { body, summary } = clientResponse;
    exchange.record?.setResult(summary);
    const encoding = chooseEncoding(body, exchange.request.headers["accept-encoding"]);
    if (isNotModified(exchange, clientResponse, encoding)) return sendNotModified(exchange, clientResponse, encoding);
    if (encoding === undefined) return send(exchange, clientResponse, body, undefined);
    compress(body, encoding, (compressed) => {
      if (compressed) send(exchange, clientResponse, compressed, encoding);
      else send(exchange, clientResponse, body, undefined);
    });
  };
}

/** The ETag of the body in this content coding: a strong validator differs between codings (RFC 9110, 8.8.3.3). */
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

/** Sends 304 with the headers that the 200 would have (RFC 9110, 15.4.5). */
function sendNotModified(
  { response, headers }: GatewayExchange,
  clientResponse: ClientResponse,
  encoding: ContentCoding | undefined,
): void {
  if (response.destroyed || response.headersSent) return;
  const validator = ["ETag", etagOf(clientResponse, encoding) ?? ""];
  response.writeHead(304, [...headers, ...(clientResponse.headers ?? []), ...validator]).end();
}

function chooseEncoding(body: Buffer, acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined || body.length < compressedBytesMin) return undefined;
  return chooseContentCoding(acceptEncoding);
}

/**
 * In Node's thread pool. Quality 4 of brotli is as fast as gzip and smaller.
 * @param done gets undefined if compression failed, for example for lack of memory: the body is then sent uncompressed.
 */
function compress(body: Buffer, encoding: ContentCoding, done: (compressed: Buffer | undefined) => void): void {
  const finish = (error: Error | null, compressed: Buffer) => done(error ? undefined : compressed);
  if (encoding === "gzip") gzip(body, { level: 6 }, finish);
  else brotliCompress(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, finish);
}

/** All headers in one raw list, which node:http sends as it is, without building a table of them first. */
function listHeaders(
  exchange: GatewayExchange,
  response: ClientResponse,
  body: Buffer,
  encoding: ContentCoding | undefined,
): string[] {
  const headers = exchange.headers.concat("Content-Type", response.contentType);
  if (response.headers) headers.push(...response.headers);
  headers.push("X-Content-Type-Options", "nosniff");
  if (!response.headers?.includes("Cache-Control")) headers.push("Cache-Control", "no-store");
  const etag = etagOf(response, encoding);
  if (etag !== undefined) headers.push("ETag", etag);
  if (encoding !== undefined) headers.push("Content-Encoding", encoding);
  headers.push("Content-Length", String(body.length));
  return headers;
}

/**
 * Whether bytes of the response still wait in this process. Usually the operating system takes all bytes at once. `socket` is null while the
 * response to an earlier request on the connection is not finished.
 */
function hasUnsentBytes({ socket, writableFinished, closed }: ServerResponse): boolean {
  return !writableFinished && !closed && (socket === null || socket.writableLength > 0);
}

function closeAfter(response: ServerResponse, timeoutMs: number, onTimeout: () => void): void {
  const timer = setTimeout(() => {
    onTimeout();
    response.destroy();
  }, timeoutMs);
  response.once("close", () => clearTimeout(timer));
}
