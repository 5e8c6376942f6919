// Stage 1 of 5: may you come in? A client's body: bounded, UTF-8, JSON.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { parseExactJson } from "@tributary/kit/json/exact-json";
import { decodeJson, isJsonType, JsonError } from "@tributary/kit/http/json-body";
import { Refusal } from "../errors/codes.ts";

/** What of a refused body we read and throw away so that the client sees our answer; then the connection is cut. */
const discardedBytesMax = 16_777_216;
const mediaTypes = ["application/json"];

/**
 * Receives a body that says it is JSON, unpacked. A callback, not a promise: the fast lane goes on in the same turn.
 * @param bytesMax counts unpacked bytes; at most that much is held.
 * @param done gets the bytes, or why there are none: UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, MALFORMED_REQUEST.
 */
export function receiveBody(
  request: IncomingMessage,
  bytesMax: number,
  done: (received: Buffer | Refusal) => void,
): void {
  const refuse = (refusal: Refusal) => {
    discardRest(request);
    done(refusal);
  };
  const { headers } = request;
  if (!isJsonType(headers["content-type"], mediaTypes)) return refuse(new Refusal("UNSUPPORTED_MEDIA_TYPE"));
  if (Number(headers["content-length"] ?? 0) > bytesMax) return refuse(new Refusal("PAYLOAD_TOO_LARGE"));
  const body = unpack(request);
  if (body instanceof Refusal) return refuse(body);
  collect(request, body, bytesMax, (received) => (received instanceof Refusal ? refuse(received) : done(received)));
}

/** @throws Refusal MALFORMED_REQUEST. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return parseExactJson(decodeJson(bytes));
  } catch (error) {
    throw error instanceof JsonError ? new Refusal("MALFORMED_REQUEST", `The body ${error.message}.`) : error;
  }
}

function unpack(request: IncomingMessage): Readable | Refusal {
  switch (request.headers["content-encoding"]?.trim().toLowerCase() ?? "identity") {
    case "identity":
      return request;
    case "gzip":
      return request.pipe(createGunzip());
    case "deflate":
      return request.pipe(createInflate());
    case "br":
      return request.pipe(createBrotliDecompress());
    default:
      return new Refusal("UNSUPPORTED_MEDIA_TYPE", "The body may be packed with gzip, deflate or br.", {
        "Accept-Encoding": "gzip, deflate, br",
      });
  }
}

/** Calls `done` once. */
function collect(
  request: IncomingMessage,
  body: Readable,
  bytesMax: number,
  done: (received: Buffer | Refusal) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let ended = false;
  const end = (received: Buffer | Refusal) => {
    if (ended) return;
    ended = true;
    done(received);
  };
  const fail = (refusal: Refusal) => {
    body.off("data", take);
    if (body !== request) {
      request.unpipe();
      body.destroy();
    }
    end(refusal);
  };
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) fail(new Refusal("PAYLOAD_TOO_LARGE"));
    else chunks.push(chunk);
  };
  body.on("data", take);
  body.on("end", () => end(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes)));
  if (body !== request) body.on("error", () => fail(new Refusal("MALFORMED_REQUEST", "The body cannot be read.")));
  request.on("close", () => {
    if (!request.complete) fail(new Refusal("MALFORMED_REQUEST", "The body ended too soon."));
  });
}

/** A connection that is cut with unread bytes loses our answer; so we read on for a while, holding nothing. */
function discardRest(request: IncomingMessage): void {
  let bytes = 0;
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > discardedBytesMax) request.destroy();
  });
  request.resume();
}
