// Stage 1 of 5: admit. Receives, decompresses and parses the body of each POST to /graphql.
import type { IncomingMessage } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { decodeJson, isJsonType, JsonError, type JsonLimits } from "@tributary/kit/http/json-body";
import { type BodyFailure, discardBody, receiveBody, type ReceiveBodyOptions } from "@tributary/kit/http/receive-body";
import { parseExactJson } from "@tributary/kit/json/exact-json";
import { Rejection } from "../errors/rejections.ts";

const discardedBytesMax = 16_777_216;
const mediaTypes = ["application/json"];
const decompressors = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync } as const;

/** By a callback instead of a promise, so that the fast path continues in the same iteration of the event loop. Calls `done` once. */
export function receiveJsonBody(
  request: IncomingMessage,
  options: ReceiveBodyOptions,
  done: (received: Buffer | Rejection) => void,
): void {
  const rejection = rejectHead(request, options.bytesMax);
  if (rejection) {
    discardRest(request);
    return done(rejection);
  }
  receiveBody(request, options, (received) => {
    if (received === "too-large") discardRest(request);
    done(typeof received === "string" ? toRejection(received) : received);
  });
}

function rejectHead(request: IncomingMessage, bytesMax: number): Rejection | undefined {
  const { headers } = request;
  if (!isJsonType(headers["content-type"], mediaTypes)) return new Rejection("UNSUPPORTED_MEDIA_TYPE");
  if (Number(headers["content-length"] ?? 0) > bytesMax) return new Rejection("PAYLOAD_TOO_LARGE");
  if (!isCompressed(request) || findDecompressor(request)) return undefined;
  return new Rejection("UNSUPPORTED_MEDIA_TYPE", "The body may be compressed with gzip, deflate or br.", {
    "Accept-Encoding": "gzip, deflate, br",
  });
}

function toRejection(failure: BodyFailure): Rejection {
  switch (failure) {
    case "too-large":
      return new Rejection("PAYLOAD_TOO_LARGE");
    case "disconnected":
      return new Rejection("MALFORMED_REQUEST", "The body is incomplete.");
    case "cut":
      return new Rejection("REQUEST_TIMEOUT", undefined, { Connection: "close" });
  }
}

export function isCompressed(request: IncomingMessage): boolean {
  return codingOf(request) !== "identity";
}

/** Synchronous: a megabyte takes 1 to 5 ms, at most 20 ms, and only one is decompressed in each iteration of the event loop. */
export function decompress(request: IncomingMessage, body: Buffer, bytesMax: number): Buffer | Rejection {
  const decompressor = findDecompressor(request);
  if (decompressor === undefined) return body;
  try {
    return decompressor(body, { maxOutputLength: bytesMax });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_BUFFER_TOO_LARGE") return new Rejection("PAYLOAD_TOO_LARGE");
    return new Rejection("MALFORMED_REQUEST", "The body could not be decompressed.");
  }
}

function findDecompressor(request: IncomingMessage): (typeof decompressors)[keyof typeof decompressors] | undefined {
  const coding = codingOf(request);
  return Object.hasOwn(decompressors, coding) ? decompressors[coding as keyof typeof decompressors] : undefined;
}

function codingOf({ headers }: IncomingMessage): string {
  return headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
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

export function discardRest(request: IncomingMessage): void {
  discardBody(request, discardedBytesMax);
}
