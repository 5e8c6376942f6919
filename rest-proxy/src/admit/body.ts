/** Request bodies. Read as a whole in stage 4, before the request is forwarded. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { type BodyFailure, discardBody, receiveBody, type ReceiveBodyOptions } from "@tributary/kit/http/receive-body";
import { ClientDisconnected } from "../errors/service-failure.ts";

/** Bytes of an unread body that are discarded, so that its sender can read the response. */
const discardedBytesMax = 1_048_576;

/**
 * So that the request to the service has a `Content-Length`, and a slow sender does not occupy one of the service's in-flight requests.
 * @throws AppError PAYLOAD_TOO_LARGE; REQUEST_TIMEOUT; MALFORMED_REQUEST for a `GET` or `HEAD` with a body, and for a transfer coding other than
 * chunked; ClientDisconnected.
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
    // After the checks, so that no client sends a body that is rejected.
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

/** Before a response that leaves the body unread. If the client waits for 100 (Continue), Node closes the connection. */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || response.headersSent || !hasBody(request)) return;
  discardBody(request, discardedBytesMax);
}

export function hasBody(request: IncomingMessage): boolean {
  return request.headers["transfer-encoding"] !== undefined || contentLengthOf(request) > 0;
}

function contentLengthOf({ headers }: IncomingMessage): number {
  return Number(headers["content-length"] ?? 0);
}

/** Node decodes only chunked: for `gzip, chunked`, the service would get a compressed body (RFC 9112, 6.1). */
function hasTransferCoding({ headers }: IncomingMessage): boolean {
  return (headers["transfer-encoding"] ?? "chunked").trim().toLowerCase() !== "chunked";
}

function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === "1.1" && headers.expect?.toLowerCase() === "100-continue";
}
