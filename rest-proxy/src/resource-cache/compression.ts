/** Compression of responses, before the cache stores them: content coding (RFC 9110, 8.4), ETags and `Vary`. */
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { chooseContentCoding, type ContentCoding } from "@tributary/kit/http/accept";
import { findHeader, findHeaderIndex, isHeaderNamed, withoutHeaders } from "@tributary/kit/http/raw-headers";
import type { OriginFetch, OriginRequest, OriginResponse } from "../cache/cache-request.ts";
import { dropBody } from "../cache/body-relay.ts";
import { ClientDisconnected, asAppError } from "../errors/service-failure.ts";

/** Only bodies within these limits are compressed: compressing a shorter body saves no packet, and a longer body would occupy too much memory. */
const bytesMin = 1_024;
const bytesMax = 2_097_152;

/** The header of responses whose coding depends on the request. */
const varyByEncoding = ["Vary", "Accept-Encoding"] as const;

/** Memoized values of `Accept-Encoding`. */
const memoMax = 1_000;
/** Characters of a memoized value. A longer value is parsed for each request. */
const memoLengthMax = 256;

/** Chooses the content coding of a response; memoized by the value of `Accept-Encoding`. Undefined: the response is not compressed. */
export function createCodingChooser(): (acceptEncoding: string | undefined) => ContentCoding | undefined {
  // `identity`: no coding was chosen.
  const memo = createBoundedMap<ContentCoding | "identity">({ entriesMax: memoMax });

  return (acceptEncoding) => {
    if (acceptEncoding === undefined || acceptEncoding === "") return undefined;
    if (acceptEncoding.length > memoLengthMax) return chooseContentCoding(acceptEncoding);
    const memoized = memo.get(acceptEncoding);
    if (memoized === "identity") return undefined;
    if (memoized !== undefined) return memoized;
    const coding = chooseContentCoding(acceptEncoding);
    memo.set(acceptEncoding, coding ?? "identity");
    return coding;
  };
}

export interface CompressionOptions {
  /**
   * Responses that are being compressed or wait for a thread: each is in memory as a whole. Above this number, further responses are sent
   * uncompressed.
   */
  readonly compressionsMax: number;
  /**
   * Responses that are compressed at the same time, each by a thread of Node's pool; at least 1. Many more than cores would evict one another's data
   * from the caches of the processor, and leave the main thread a smaller share of its core.
   */
  readonly threadsMax: number;
}

export interface Compression {
  /**
   * Wraps the origin fetches of all requests (stages.ts) so that responses are compressed once, before they are cached.
   *
   * Each coding is a representation with its own ETag: `"7"` becomes `"7-br"` (RFC 9110, 8.8.3.3; a weak ETag would never match `If-Match`). The
   * suffix is removed from conditions before the service compares them. Only a 200 to `GET` or `HEAD` with JSON is compressed; not if the request has
   * `Range`, or the response has `no-transform`, an unknown length, or a length outside `bytesMin` to `bytesMax`.
   */
  wrap(fetch: OriginFetch, coding: ContentCoding | undefined): OriginFetch;
  /** How long the response that waits longest for a thread has waited, in milliseconds; 0 if none waits. */
  queueDelayMs(): number;
}

export function createCompression({ compressionsMax, threadsMax }: CompressionOptions): Compression {
  let inFlight = 0;
  const threads = createThreadQueue(threadsMax);

  async function compressIfPossible(
    response: OriginResponse,
    request: OriginRequest,
    coding: ContentCoding | undefined,
  ): Promise<OriginResponse> {
    if (!isCompressible(response)) return response;
    if (coding === undefined || inFlight >= compressionsMax) return addVary(response);
    inFlight++;
    try {
      const body = await readBody(response.body, request.signal);
      const compressed = await threads.run(() => compressors[coding](body));
      return toCompressedResponse(response, coding, compressed);
    } finally {
      inFlight--;
    }
  }

  async function fetchRead(
    request: OriginRequest,
    fetch: OriginFetch,
    acceptedCoding: ContentCoding | undefined,
  ): Promise<OriginResponse> {
    const hasRange = findHeader(request.headers, "range") !== undefined;
    const coding = hasRange ? undefined : acceptedCoding;
    const plainRequest = withPlainTags(request, coding);
    const response = await fetch(plainRequest);
    if (response.status === 304) return restoreTag(response, request, coding);
    const isHeadOfCompressed = request.method === "HEAD" && coding !== undefined && isCompressible(response);
    if (!isHeadOfCompressed) return compressIfPossible(response, request, coding);
    // The Content-Length of a HEAD response is that of the compressed body. It is known only after a GET and its compression.
    dropBody(response.body);
    const getResponse = await fetch({ ...plainRequest, method: "GET" });
    const compressed = await compressIfPossible(getResponse, request, coding);
    dropBody(compressed.body);
    return { ...compressed, body: Buffer.of() };
  }

  return {
    wrap: (fetch, acceptedCoding) => (request) => {
      const isRead = request.method === "GET" || request.method === "HEAD";
      return isRead ? fetchRead(request, fetch, acceptedCoding) : fetchWrite(request, fetch);
    },
    queueDelayMs: threads.queueDelayMs,
  };
}

/** The response to a write is never compressed. */
async function fetchWrite(request: OriginRequest, fetch: OriginFetch): Promise<OriginResponse> {
  return await fetch(withPlainTags(request, "any"));
}

function addVary(response: OriginResponse): OriginResponse {
  return { ...response, headers: [...response.headers, ...varyByEncoding] };
}

const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/i;
/** RFC 9111, 5.2.2.6. */
const noTransform = /\bno-transform\b/i;

function isCompressible({ status, headers }: OriginResponse): boolean {
  const length = Number(findHeader(headers, "content-length") ?? -1);
  return (
    status === 200 &&
    length >= bytesMin &&
    length <= bytesMax &&
    jsonType.test(findHeader(headers, "content-type") ?? "") &&
    findHeader(headers, "content-encoding") === undefined &&
    !noTransform.test(findHeader(headers, "cache-control") ?? "")
  );
}

/** Runs at most `threadsMax` tasks at once. Further ones wait in the order of their arrival. */
function createThreadQueue(threadsMax: number) {
  let running = 0;
  const waiting: { readonly start: () => void; readonly enteredMs: number }[] = [];
  return {
    async run<T>(task: () => Promise<T>): Promise<T> {
      if (running < threadsMax) running++;
      else await new Promise<void>((start) => waiting.push({ start, enteredMs: performance.now() }));
      try {
        return await task();
      } finally {
        const next = waiting.shift();
        // The next task takes the place of this one.
        if (next) next.start();
        else running--;
      }
    },
    queueDelayMs(): number {
      const oldest = waiting[0];
      return oldest ? performance.now() - oldest.enteredMs : 0;
    },
  };
}

function toCompressedResponse(response: OriginResponse, coding: ContentCoding, compressed: Buffer): OriginResponse {
  const headers = withoutHeaders(response.headers, (name) => name === "content-length");
  const etagIndex = findHeaderIndex(headers, "etag");
  if (etagIndex !== -1) headers[etagIndex + 1] = withSuffix(headers[etagIndex + 1] ?? "", coding);
  headers.push("Content-Encoding", coding, "Content-Length", String(compressed.length), ...varyByEncoding);
  return { status: response.status, headers, body: compressed };
}

/**
 * Nothing is written to the client yet, so a truncated body is the same error as a missing response.
 * @throws AppError, as `asAppError`; ClientDisconnected.
 */
async function readBody(body: Buffer | Readable, signal: OriginRequest["signal"]): Promise<Buffer> {
  if (!(body instanceof Readable)) return body;
  try {
    // Not `buffer` of node:stream/consumers: it copies each chunk through a Blob, and that memory caused most garbage collections.
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } catch (error) {
    if (signal.aborted) throw new ClientDisconnected("No client waits for the response.", { cause: error });
    throw asAppError(error);
  }
}

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/**
 * Not the strongest compression (11 and 9), since a client waits for it. For Brotli, 5 takes almost twice the CPU time of 4, for a body that is 2 to
 * 6 % shorter.
 */
const brotliQuality = 4;
const gzipLevel = 6;

const compressors: Readonly<Record<ContentCoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    compressBrotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        [constants.BROTLI_PARAM_LGWIN]: chooseWindowBits(bytes.length),
      },
    }),
  gzip: (bytes) => compressGzip(bytes, { level: gzipLevel }),
};

/**
 * The base-2 logarithm of the smallest window that contains the whole body. The encoder allocates twice the window, with the default of 22 bits 8 MB
 * for each body over 64 KB. V8 counts this memory, and would collect garbage several times per second.
 */
function chooseWindowBits(bodyBytes: number): number {
  const bits = Math.ceil(Math.log2(bodyBytes));
  return Math.min(Math.max(bits, constants.BROTLI_MIN_WINDOW_BITS), constants.BROTLI_DEFAULT_WINDOW);
}

/**
 * Restores the suffix of the ETag in a 304 if the client sent the ETag with the suffix. Adds `Vary` if the 200 has it (RFC 9110, 15.4.5):
 * - without a coding always, since it is unknown here whether the 200 is compressible;
 * - with a coding only if the client sent the suffix or `*`. A tag without suffix is taken for that of a response that is never compressed: if that
 *   is wrong, caches keep the `Vary` that they have.
 */
function restoreTag(
  response: OriginResponse,
  request: OriginRequest,
  coding: ContentCoding | undefined,
): OriginResponse {
  if (coding === undefined) return addVary(response);
  const clientTags = findHeader(request.headers, "if-none-match") ?? "";
  const headers = [...response.headers];
  let isCompressed = false;
  for (let at = 0; at < headers.length; at += 2) {
    if (!isHeaderNamed(headers, at, "etag")) continue;
    const tag = headers[at + 1] ?? "";
    const suffixed = withSuffix(tag, coding);
    isCompressed = suffixed !== tag && clientTags.includes(suffixed);
    if (isCompressed) headers[at + 1] = suffixed;
  }
  if (isCompressed || clientTags.trim() === "*") headers.push(...varyByEncoding);
  return { ...response, headers };
}

/** A weak tag (`W/"…"`) gets no suffix. */
function withSuffix(tag: string, coding: ContentCoding): string {
  return tag.startsWith('"') ? `${tag.slice(0, -1)}-${coding}"` : tag;
}

const suffixPatterns = { br: /-br"/g, gzip: /-gzip"/g, any: /-(?:br|gzip)"/g };

/**
 * Removes the suffix of the coding from the ETags in conditions. Other suffixes remain: the service does not know such an ETag and sends the whole
 * response.
 * @returns `request` itself if there is nothing to change.
 */
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
