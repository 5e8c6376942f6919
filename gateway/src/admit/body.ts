// Stage 1 of 5: admit. Receives the body of each POST to /graphql, with limits, and parses it as JSON in UTF-8. Called by `receive` in pipeline.ts.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { decodeJson, isJsonType, JsonError, type JsonLimits } from "@tributary/kit/http/json-body";
import { overloadedRetrySeconds } from "@tributary/kit/http/overloaded-response";
import { parseExactJson } from "@tributary/kit/json/exact-json";
import { Rejection } from "../errors/rejections.ts";

/** Bytes of a rejected body that are read and discarded, so that the client receives the rejection. After more bytes the connection is closed. */
const discardedBytesMax = 16_777_216;
const mediaTypes = ["application/json"];

/** The decompressed bytes of all bodies that are being received. */
export interface BodiesInFlight {
  bytes: number;
  readonly bytesMax: number;
}

interface BodyLimits {
  /** Of this body, decompressed. */
  readonly bytesMax: number;
  readonly bodies: BodiesInFlight;
}

/**
 * Receives and decompresses a body of type application/json. The result is passed to a callback instead of a promise, so that the fast path
 * continues in the same iteration of the event loop.
 * @param done is called once; if the headers are not valid, before this function returns. It gets the bytes, or a Rejection:
 * UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, MALFORMED_REQUEST, or OVERLOADED if `bodies` exceed their limit.
 */
export function receiveBody(
  request: IncomingMessage,
  { bytesMax, bodies }: BodyLimits,
  done: (received: Buffer | Rejection) => void,
): void {
  const reject = (rejection: Rejection) => {
    discardRest(request);
    done(rejection);
  };
  const { headers } = request;
  if (!isJsonType(headers["content-type"], mediaTypes)) return reject(new Rejection("UNSUPPORTED_MEDIA_TYPE"));
  if (Number(headers["content-length"] ?? 0) > bytesMax) return reject(new Rejection("PAYLOAD_TOO_LARGE"));
  const body = decompress(request);
  if (body instanceof Rejection) return reject(body);
  collectBody(request, body, { bytesMax, bodies }, (received) => {
    if (received instanceof Rejection) reject(received);
    else done(received);
  });
}

/** @throws Rejection MALFORMED_REQUEST if the bytes are not JSON in UTF-8, or exceed a limit. */
export function parseJson(bytes: Buffer, limits: JsonLimits): unknown {
  try {
    return parseExactJson(decodeJson(bytes), limits);
  } catch (error) {
    if (error instanceof JsonError) throw new Rejection("MALFORMED_REQUEST", `The body ${error.message}.`);
    throw error;
  }
}

function decompress(request: IncomingMessage): Readable | Rejection {
  const encoding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  switch (encoding) {
    case "identity":
      return request;
    case "gzip":
      return request.pipe(createGunzip());
    case "deflate":
      return request.pipe(createInflate());
    case "br":
      return request.pipe(createBrotliDecompress());
    default:
      return new Rejection("UNSUPPORTED_MEDIA_TYPE", "The body may be compressed with gzip, deflate or br.", {
        "Accept-Encoding": "gzip, deflate, br",
      });
  }
}

/**
 * Collects the bytes of `body`, which is `request` or a decompressing stream that `request` is piped to. Calls `done` once. `bytesMax` limits the
 * compressed bytes too, because gzip can have any number of empty blocks and headers, which decompress to no bytes.
 */
function collectBody(
  request: IncomingMessage,
  body: Readable,
  { bytesMax, bodies }: BodyLimits,
  done: (received: Buffer | Rejection) => void,
): void {
  const isCompressed = body !== request;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isDone = false;
  const finish = (received: Buffer | Rejection) => {
    if (isDone) return;
    isDone = true;
    bodies.bytes -= bytes;
    done(received);
  };
  const fail = (rejection: Rejection): void => {
    body.off("data", addChunk);
    if (isCompressed) {
      request.unpipe();
      body.destroy();
    }
    finish(rejection);
  };
  const addChunk = (chunk: Buffer): void => {
    bytes += chunk.length;
    bodies.bytes += chunk.length;
    if (bytes > bytesMax) return fail(new Rejection("PAYLOAD_TOO_LARGE"));
    if (bodies.bytes > bodies.bytesMax) return fail(rejectBodyForOverload());
    chunks.push(chunk);
    // No pause after the first chunk, so that a body of one chunk ends in the same iteration of the event loop.
    if (chunks.length > 1) resumeLater(body);
  };
  body.on("data", addChunk);
  if (isCompressed) {
    let compressedBytes = 0;
    request.on("data", (chunk: Buffer) => {
      compressedBytes += chunk.length;
      if (compressedBytes > bytesMax) fail(new Rejection("PAYLOAD_TOO_LARGE"));
    });
    body.on("error", () => fail(new Rejection("MALFORMED_REQUEST", "The body could not be decompressed.")));
  }
  body.on("end", () => {
    const first = chunks[0];
    const isOneChunk = first !== undefined && chunks.length === 1;
    finish(isOneChunk ? first : Buffer.concat(chunks, bytes));
  });
  request.on("close", () => {
    if (!request.complete) fail(new Rejection("MALFORMED_REQUEST", "The body is incomplete."));
  });
}

function rejectBodyForOverload(): Rejection {
  const headers = { "Retry-After": String(overloadedRetrySeconds) };
  return new Rejection("OVERLOADED", undefined, headers, { isBodyUnused: true });
}

/** Reads and discards the rest of a rejected body. If the gateway closed the connection with unread bytes, the client would lose the rejection. */
export function discardRest(request: IncomingMessage): void {
  let bytes = 0;
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > discardedBytesMax) request.destroy();
    else resumeLater(request);
  });
  request.resume();
}

/** Without this pause, one iteration of the event loop reads up to 2 MB of each connection (libuv: 32 chunks of 64 KB). */
function resumeLater(body: Readable): void {
  body.pause();
  setImmediate(() => body.resume());
}
