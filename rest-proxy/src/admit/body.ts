/** Request bodies: `pipeline.ts` reads the whole body in stage 4, before it forwards the request; `respond/` discards bodies that were not read. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { ClientDisconnected } from "../errors/service-failure.ts";

/** How much of an unwanted body is read and discarded so that its sender can read the response; then the connection is closed. */
const discardedBytesMax = 1_048_576;

export interface BodyReaderOptions {
  readonly bodyBytesMax: number;
  /** Bodies that may be received at once; bounds the memory that slow senders can occupy. */
  readonly bodiesInFlightMax: number;
}

/**
 * Reads the whole body, so that the request to the service has a `Content-Length` and a slow sender does not occupy one of the service's
 * in-flight requests. Never parses it.
 * @returns undefined for a request without a body.
 * @throws AppError PAYLOAD_TOO_LARGE; SERVICE_UNAVAILABLE if `bodiesInFlightMax` is reached; MALFORMED_REQUEST for a `GET` or `HEAD` with a body, and
 * for a transfer coding other than chunked; ClientDisconnected.
 */
export type ReadBody = (request: IncomingMessage, response: ServerResponse) => Promise<Buffer | undefined>;

export function createBodyReader({ bodyBytesMax, bodiesInFlightMax }: BodyReaderOptions): ReadBody {
  let bodiesInFlight = 0;
  const createTooLargeError = () =>
    new AppError("PAYLOAD_TOO_LARGE", `A body has at most ${bodyBytesMax.toLocaleString("en")} bytes.`);

  return async (request, response) => {
    if (!hasBody(request)) return undefined;
    if (request.method === "GET" || request.method === "HEAD") {
      throw new AppError("MALFORMED_REQUEST", `A body has no meaning with ${request.method}.`);
    }
    if (hasTransferCoding(request)) {
      throw new AppError("MALFORMED_REQUEST", "Send a body with Content-Length or Transfer-Encoding: chunked.");
    }
    if (contentLengthOf(request) > bodyBytesMax) throw createTooLargeError();
    if (bodiesInFlight >= bodiesInFlightMax) {
      throw new AppError("SERVICE_UNAVAILABLE", "Too many requests are in flight. Try again.", {
        retryAfterSeconds: 1,
      });
    }
    bodiesInFlight++;
    try {
      // 100 (Continue) is sent after the checks, so that no client sends a body that is rejected. The `checkContinue` listener in connections.ts
      // keeps Node from sending it earlier.
      if (expectsContinue(request)) response.writeContinue();
      return await collectBody(request, bodyBytesMax, createTooLargeError);
    } finally {
      bodiesInFlight--;
    }
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

function collectBody(request: IncomingMessage, bytesMax: number, createTooLargeError: () => AppError): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const removeListeners = () => {
      request.off("data", onData).off("end", onEnd).off("close", onClose);
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      removeListeners();
      reject(createTooLargeError());
    };
    const onEnd = () => {
      removeListeners();
      resolve(Buffer.concat(chunks));
    };
    const onClose = () => {
      removeListeners();
      reject(new ClientDisconnected("The client disconnected."));
    };
    request.on("data", onData).on("end", onEnd).on("close", onClose);
    // `close` follows an error. An `error` event without a listener would end the process.
    request.on("error", () => undefined);
  });
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
