import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { createInFlightLimit } from "./in-flight.ts";

/** How much of a body that nobody wants is read away so that its sender can read the answer; then the connection goes. */
const unwantedBytesMax = 1_048_576;

export interface BodyReaderOptions {
  readonly bodyBytesMax: number;
  /** Bodies that may be on their way in at once; bounds the memory that slow senders can hold. */
  readonly bodiesInFlightMax: number;
}

/** The client went away before it had sent its request: there is nobody to answer. */
export class ClientGone extends Error {}

/**
 * Reads a whole body, so that it goes to the service with a length: a chunked request would cost the connection to the service, and a slow
 * sender a place there. Never looks into it. Undefined for a request without a body.
 */
export type ReadBody = (request: IncomingMessage, response: ServerResponse) => Promise<Buffer | undefined>;

/**
 * @throws AppError PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE when too many bodies are on their way, MALFORMED_REQUEST for a GET with a body;
 * ClientGone.
 */
export function createBodyReader({ bodyBytesMax, bodiesInFlightMax }: BodyReaderOptions): ReadBody {
  const limit = createInFlightLimit({ perKeyMax: bodiesInFlightMax });
  const tooLarge = () =>
    new AppError("PAYLOAD_TOO_LARGE", `A body has at most ${bodyBytesMax.toLocaleString("en")} bytes.`);

  return async (request, response) => {
    if (!hasBody(request)) return undefined;
    if (request.method === "GET" || request.method === "HEAD") {
      throw new AppError("MALFORMED_REQUEST", `A body has no meaning with ${request.method}.`);
    }
    if (isCoded(request))
      throw new AppError("MALFORMED_REQUEST", "A body comes with its length, or in chunks and no other coding.");
    if (Number(request.headers["content-length"] ?? 0) > bodyBytesMax) throw tooLarge();
    const leave = limit.enter("bodies");
    if (!leave)
      throw new AppError("SERVICE_UNAVAILABLE", "Too much is under way. Try again.", { retryAfterSeconds: 1 });
    try {
      // With a listener for checkContinue Node leaves this to us: nothing is invited that would be refused.
      if (expectsContinue(request)) response.writeContinue();
      return await collect(request, bodyBytesMax, tooLarge);
    } finally {
      leave();
    }
  };
}

/**
 * Before an answer that leaves a body unread: what still comes is thrown away, up to a bound. (A body that was expected to be invited and
 * was not ends the connection: Node says so by itself.)
 */
export function abandonBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || response.headersSent || !hasBody(request)) return;
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > unwantedBytesMax) request.destroy();
  });
  request.on("error", () => undefined);
  // Marks the body as being read, or Node would throw away the rest by itself, without a bound.
  request.read(0);
}

function collect(request: IncomingMessage, bytesMax: number, tooLarge: () => AppError): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (finish: () => void) => {
      request.off("data", take).off("end", done).off("close", gone);
      finish();
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) return settle(() => reject(tooLarge()));
      chunks.push(chunk);
    };
    const done = () => settle(() => resolve(Buffer.concat(chunks)));
    const gone = () => settle(() => reject(new ClientGone("The client went away.")));
    request.on("data", take).on("end", done).on("close", gone);
    request.on("error", () => undefined);
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** `gzip, chunked` and the like, which Node reads as if it were `chunked` alone: the service would get what nobody has unpacked (RFC 9112, 6.1). */
function isCoded({ headers }: IncomingMessage): boolean {
  return (headers["transfer-encoding"] ?? "chunked").trim().toLowerCase() !== "chunked";
}

function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === "1.1" && headers.expect?.toLowerCase() === "100-continue";
}
