// Stage 1 of 5: may you come in? A client's body: bounded, UTF-8, JSON.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Refusal } from "../errors.ts";

/** What of a refused body we read and throw away so that the client sees our answer; then the connection is cut. */
const discardedBytesMax = 16_777_216;

/**
 * Reads a JSON body.
 * @param bytesMax counts unpacked bytes; at most that much is held.
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, MALFORMED_REQUEST.
 */
export async function readJsonBody(request: IncomingMessage, bytesMax: number): Promise<unknown> {
  try {
    refuseOtherTypes(request.headers["content-type"]);
    if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw new Refusal("PAYLOAD_TOO_LARGE");
    return parseJson(await readBytes(request, unpack(request), bytesMax));
  } catch (error) {
    discardRest(request);
    throw error;
  }
}

function refuseOtherTypes(contentType: string | undefined): void {
  const [type, ...parameters] = (contentType ?? "").split(";").map((part) => part.trim().toLowerCase());
  if (type !== "application/json") throw new Refusal("UNSUPPORTED_MEDIA_TYPE");
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  if (charset !== undefined && !["utf-8", '"utf-8"', "utf8"].includes(charset)) {
    throw new Refusal("UNSUPPORTED_MEDIA_TYPE", "The body's charset must be utf-8.");
  }
}

function unpack(request: IncomingMessage): Readable {
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
      throw new Refusal("UNSUPPORTED_MEDIA_TYPE", "The body may be packed with gzip, deflate or br.", {
        "Accept-Encoding": "gzip, deflate, br",
      });
  }
}

function readBytes(request: IncomingMessage, body: Readable, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const fail = (error: Error) => {
      body.off("data", take);
      if (body !== request) {
        request.unpipe();
        body.destroy();
      }
      reject(error);
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) fail(new Refusal("PAYLOAD_TOO_LARGE"));
      else chunks.push(chunk);
    };
    body.on("data", take);
    body.on("end", () => resolve(Buffer.concat(chunks, bytes)));
    body.on("error", () => fail(new Refusal("MALFORMED_REQUEST", "The body cannot be read.")));
    request.on("close", () => {
      if (!request.complete) fail(new Refusal("MALFORMED_REQUEST", "The body ended too soon."));
    });
  });
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Refusal("MALFORMED_REQUEST", "The body is not UTF-8.");
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new Refusal("MALFORMED_REQUEST", "The body is not JSON.");
  }
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
