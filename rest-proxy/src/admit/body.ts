/** Request bodies: `pipeline.ts` reads the whole body in stage 4, before it forwards the request; `respond/` discards bodies that were not read. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { type BodyFailure, receiveBody, type ReceiveBodyOptions } from "@tributary/kit/http/receive-body";
import { ClientDisconnected } from "../errors/service-failure.ts";

/** How much of an unwanted body is read and discarded so that its sender can read the response; then the connection is closed. */
const discardedBytesMax = 1_048_576;

/**
 * Reads the whole body of a request that has one, so that the request to the service has a `Content-Length` and a slow sender does not occupy one of the service's
 * in-flight requests. Never parses it.
 * @throws AppError PAYLOAD_TOO_LARGE; REQUEST_TIMEOUT if `incompleteRequests` has cut the request; MALFORMED_REQUEST for a `GET` or `HEAD` with a
 * body, and for a transfer coding other than chunked; ClientDisconnected.
 */
export type ReadBody = (request: IncomingMessage, response: ServerResponse) => Promise<Buffer>;

export function createBodyReader(options: ReceiveBodyOptions): ReadBody {
  const { bytesMax } = options;
  const toError = (failure: BodyFailure) => {
    if (failure === "disconnected") return new ClientDisconnected("The client disconnected.");
    if (failure === "cut") return new AppError("REQUEST_TIMEOUT", "The request took too long to arrive.");
    return new AppError("PAYLOAD_TOO_LARGE", `A body has at most ${bytesMax.toLocaleString("en")} bytes.`);
  };

  return async (request, response) => {
    if (request.method === "GET" || request.method === "HEAD") {
      throw new AppError("MALFORMED_REQUEST", `A body has no meaning with ${request.method}.`);
    }
    if (hasTransferCoding(request)) {
      throw new AppError("MALFORMED_REQUEST", "Send a body with Content-Length or Transfer-Encoding: chunked.");
    }
    if (contentLengthOf(request) > bytesMax) throw toError("too-large");
    // 100 (Continue) is sent after the checks, so that no client sends a body that is rejected. The `checkContinue` listener in connections.ts
    // keeps Node from sending it earlier.
    if (expectsContinue(request)) response.writeContinue();
    return new Promise((resolve, reject) => {
      receiveBody(request, options, (received) => {
        if (typeof received !== "string") return resolve(received);
        if (received === "cut") response.shouldKeepAlive = false;
        reject(toError(received));
      });
    });
  };
}

/**
 * Call it before a response that leaves the body unread: the rest of the body is discarded, up to a bound. If the client waits for 100
 * (Continue) and did not get it, Node closes the connection.
 */
export function discardBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || response.headersSent || !hasBody(request)) return;
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > discardedBytesMax) request.destroy();
  });
  request.on("error", () => undefined);
  // Marks the body as being read, or Node would discard the rest itself, without a bound.
  request.read(0);
}

export function hasBody(request: IncomingMessage): boolean {
  return request.headers["transfer-encoding"] !== undefined || contentLengthOf(request) > 0;
}

/** 0 without `Content-Length`. */
function contentLengthOf({ headers }: IncomingMessage): number {
  return Number(headers["content-length"] ?? 0);
}

/** A coding besides chunked, such as `gzip, chunked`: Node decodes only chunked, so the service would get a compressed body (RFC 9112, 6.1). */
function hasTransferCoding({ headers }: IncomingMessage): boolean {
  return (headers["transfer-encoding"] ?? "chunked").trim().toLowerCase() !== "chunked";
}

function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === "1.1" && headers.expect?.toLowerCase() === "100-continue";
}
