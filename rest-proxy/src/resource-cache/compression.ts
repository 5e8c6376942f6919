/** Compression of responses, before the cache stores them: content coding (RFC 9110, 8.4), ETags and `Vary`. */
import { Readable } from "node:stream";
import type { ContentCoding } from "@tributary/kit/http/accept";
import { DeadlinePassed } from "@tributary/kit/http/abort-source";
import { type Compression, compressedBytesMin } from "@tributary/kit/http/compression";
import {
  findHeader,
  findHeaderIndex,
  isHeaderNamed,
  joinHeaderLines,
  withoutHeaders,
} from "@tributary/kit/http/raw-headers";
import { collectBody } from "@tributary/kit/http/receive-body";
import type { OriginFetch, OriginRequest, OriginResponse } from "../cache/cache-request.ts";
import { dropBody } from "../cache/body-relay.ts";
import { ClientDisconnected, asAppError } from "../errors/service-failure.ts";

/** A longer body would occupy too much memory. */
const compressedBytesMax = 2_097_152;

/**
 * Compresses JSON once, before it is cached. Each coding has its own ETag: `"7"` becomes `"7-br"` (RFC 9110, 8.8.3.3). The suffix is removed from conditions before the service compares them.
 */
export function compressReads(
  fetch: OriginFetch,
  acceptedCoding: ContentCoding | undefined,
  compression: Compression,
): OriginFetch {
  async function compressIfPossible(
    response: OriginResponse,
    request: OriginRequest,
    coding: ContentCoding | undefined,
  ): Promise<OriginResponse> {
    if (!isCompressible(response)) return response;
    if (coding === undefined || compression.isFull()) return addVary(response);
    const body = readBody(response.body, request.signal);
    return toCompressedResponse(response, coding, await compression.compress(body, coding));
  }

  async function fetchRead(request: OriginRequest): Promise<OriginResponse> {
    const hasRange = findHeader(request.headers, "range") !== undefined;
    const coding = hasRange ? undefined : acceptedCoding;
    const plainRequest = withPlainTags(request, coding);
    const response = await fetch(plainRequest);
    if (response.status === 304) return restoreTag(response, request, coding);
    const isHeadOfCompressed = request.method === "HEAD" && coding !== undefined && isCompressible(response);
    if (!isHeadOfCompressed) return compressIfPossible(response, request, coding);
    // The Content-Length of a HEAD response is known only after a GET and its compression.
    dropBody(response.body);
    const getResponse = await fetch({ ...plainRequest, method: "GET" });
    const compressed = await compressIfPossible(getResponse, request, coding);
    dropBody(compressed.body);
    return { ...compressed, body: Buffer.of() };
  }

  return (request) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    return isRead ? fetchRead(request) : fetch(withPlainTags(request, "any"));
  };
}

function addVary(response: OriginResponse): OriginResponse {
  const headers = [...response.headers];
  varyByEncoding(headers);
  return { ...response, headers };
}

/** In the service's line: some caches read only the first one (nginx before 1.23). Once, before the response is stored. */
function varyByEncoding(headers: string[]): void {
  const at = findHeaderIndex(headers, "vary");
  if (at === -1) headers.push("Vary", "Accept-Encoding");
  else headers[at + 1] += ", Accept-Encoding";
}

const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/i;
/** About the body as it was: its length, and its hashes (RFC 9530). */
const plainBodyHeaders: ReadonlySet<string> = new Set([
  "content-length",
  "content-digest",
  "repr-digest",
  "content-md5",
]);
/** RFC 9111, 5.2.2.6. */
const noTransform = /\bno-transform\b/i;

function isCompressible({ status, headers }: OriginResponse): boolean {
  const length = Number(findHeader(headers, "content-length") ?? -1);
  return (
    status === 200 &&
    length >= compressedBytesMin &&
    length <= compressedBytesMax &&
    jsonType.test(findHeader(headers, "content-type") ?? "") &&
    findHeader(headers, "content-encoding") === undefined &&
    !noTransform.test(joinHeaderLines(headers, "cache-control") ?? "")
  );
}

function toCompressedResponse(response: OriginResponse, coding: ContentCoding, compressed: Buffer): OriginResponse {
  const headers = withoutHeaders(response.headers, (name) => plainBodyHeaders.has(name));
  const etagIndex = findHeaderIndex(headers, "etag");
  if (etagIndex !== -1) headers[etagIndex + 1] = withSuffix(headers[etagIndex + 1] ?? "", coding);
  headers.push("Content-Encoding", coding, "Content-Length", String(compressed.length));
  varyByEncoding(headers);
  return { status: response.status, headers, body: compressed };
}

/** Nothing is written to the client yet, so a truncated body is an error. @throws AppError, ClientDisconnected */
async function readBody(body: Buffer | Readable, signal: OriginRequest["signal"]): Promise<Buffer> {
  if (!(body instanceof Readable)) return body;
  try {
    return await collectBody(body, compressedBytesMax);
  } catch (error) {
    // At its deadline, the client still waits.
    if (signal.reason instanceof DeadlinePassed) throw asAppError(signal.reason);
    if (signal.aborted) throw new ClientDisconnected("No client waits for the response.", { cause: error });
    throw asAppError(error);
  }
}

/**
 * Restores the suffix of the ETag in a 304 if the client sent it. Adds `Vary` if the 200 may have it (RFC 9110, 15.4.5): without a coding or with a
 * weak tag or none always, since it is unknown here whether the 200 is compressible; else for the suffix or `*`. If a strong tag without suffix is
 * that of a compressible response, caches keep the `Vary` that they have.
 */
function restoreTag(
  response: OriginResponse,
  request: OriginRequest,
  coding: ContentCoding | undefined,
): OriginResponse {
  if (coding === undefined) return addVary(response);
  const clientTags = findHeader(request.headers, "if-none-match") ?? "";
  const headers = [...response.headers];
  let mayBeCompressed = clientTags.trim() === "*" || findHeader(headers, "etag") === undefined;
  for (let at = 0; at < headers.length; at += 2) {
    if (!isHeaderNamed(headers, at, "etag")) continue;
    const tag = headers[at + 1] ?? "";
    const suffixed = withSuffix(tag, coding);
    if (!clientTags.includes(suffixed)) continue;
    mayBeCompressed = true;
    headers[at + 1] = suffixed;
  }
  if (mayBeCompressed) varyByEncoding(headers);
  return { ...response, headers };
}

function withSuffix(tag: string, coding: ContentCoding): string {
  return tag.startsWith('"') ? `${tag.slice(0, -1)}-${coding}"` : tag;
}

const suffixPatterns = { zstd: /-zstd"/g, br: /-br"/g, gzip: /-gzip"/g, any: /-(?:zstd|br|gzip)"/g };

/** Other suffixes remain: the service then sends the whole response. @returns `request` itself if there is nothing to change. */
function withPlainTags(request: OriginRequest, coding: ContentCoding | "any" | undefined): OriginRequest {
  const { headers } = request;
  let plainHeaders: string[] | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    let removedSuffix: ContentCoding | "any" | undefined;
    // If-Match means the resource as the client read it, in any coding.
    if (isHeaderNamed(headers, at, "if-match")) removedSuffix = "any";
    if (isHeaderNamed(headers, at, "if-none-match")) removedSuffix = coding;
    if (removedSuffix === undefined) continue;
    plainHeaders ??= [...headers];
    plainHeaders[at + 1] = (headers[at + 1] ?? "").replaceAll(suffixPatterns[removedSuffix], '"');
  }
  return plainHeaders ? { ...request, headers: plainHeaders } : request;
}
