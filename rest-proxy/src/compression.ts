import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { findHeader, findHeaderIndex, isHeaderNamed, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { chooseContentCoding, type ContentCoding } from "@tributary/kit/http/accept";
import { ClientGone } from "./body.ts";
import type { OriginAnswer, OriginRequest } from "./cache/origin.ts";
import { dropBody } from "./cache/relay.ts";
import { toServiceError } from "./problems.ts";

type Ask = (request: OriginRequest) => Promise<OriginAnswer>;

/** Below, packing saves no packet. Above, an answer goes as it is: it would have to be held in memory to be packed. */
const bytesMin = 1_024;
const bytesMax = 2_097_152;

/** Remembered `Accept-Encoding` values, each of at most so many characters. */
const memoMax = 1_000;
const memoLengthMax = 256;

/** Chooses the content coding of a response; remembers it by the text of `Accept-Encoding`. Undefined: do not compress. */
export function createCodingChooser(): (acceptEncoding: string | undefined) => ContentCoding | undefined {
  const memo = createBoundedMap<ContentCoding | "identity">({ entriesMax: memoMax });

  return (acceptEncoding) => {
    if (acceptEncoding === undefined || acceptEncoding === "") return undefined;
    if (acceptEncoding.length > memoLengthMax) return chooseContentCoding(acceptEncoding);
    const known = memo.get(acceptEncoding);
    if (known !== undefined) return known === "identity" ? undefined : known;
    const coding = chooseContentCoding(acceptEncoding);
    memo.set(acceptEncoding, coding ?? "identity");
    return coding;
  };
}

export interface CompressionOptions {
  /** Answers that are being packed at once: each is in memory, whole. Beyond it they go as they are. */
  readonly packingsMax: number;
}

/**
 * Makes of a way to a service one on which answers are packed before anybody stores them: once for all who get the copy.
 *
 * Each packing is a representation of its own, with a tag of its own: `"7"` is `"7-br"` (RFC 9110, 8.8.3.3; a weak tag would never pass
 * `If-Match`). The suffix is taken off before the service compares. What is a part (`Range`), of unknown length, too short or too long, or
 * not to be transformed goes as it is.
 */
export function createCompression({
  packingsMax,
}: CompressionOptions): (ask: Ask, coding: ContentCoding | undefined) => Ask {
  let packings = 0;

  async function packOrNot(
    answer: OriginAnswer,
    request: OriginRequest,
    coding?: ContentCoding,
  ): Promise<OriginAnswer> {
    if (!isPackable(answer)) return answer;
    if (!coding || packings >= packingsMax) return { ...answer, headers: [...answer.headers, ...varies] };
    packings++;
    try {
      return await pack(answer, coding, request);
    } finally {
      packings--;
    }
  }

  return (ask, wanted) => async (request) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const coding = isRead && findHeader(request.headers, "range") === undefined ? wanted : undefined;
    const headers = toPlainTags(request.headers, isRead ? coding : "any");
    const plain = headers === request.headers ? request : { ...request, headers };
    const answer = await ask(plain);
    if (!isRead) return answer;
    if (answer.status === 304) return repack304(answer, request, coding);
    if (request.method === "GET" || !coding || !isPackable(answer)) return packOrNot(answer, request, coding);
    // The length of the packed body is known by packing it.
    dropBody(answer.body);
    const packed = await packOrNot(await ask({ ...plain, method: "GET" }), request, coding);
    dropBody(packed.body);
    return { ...packed, body: Buffer.of() };
  };
}

const varies = ["Vary", "Accept-Encoding"] as const;

function isPackable({ status, headers }: OriginAnswer): boolean {
  const length = Number(findHeader(headers, "content-length") ?? -1);
  return (
    status === 200 &&
    length >= bytesMin &&
    length <= bytesMax &&
    /^application\/(?:[\w.+-]+\+)?json\b/i.test(findHeader(headers, "content-type") ?? "") &&
    findHeader(headers, "content-encoding") === undefined &&
    // RFC 9111, 5.2.2.6.
    !/\bno-transform\b/i.test(findHeader(headers, "cache-control") ?? "")
  );
}

async function pack(answer: OriginAnswer, coding: ContentCoding, { signal }: OriginRequest): Promise<OriginAnswer> {
  const bytes = await packers[coding](await readBody(answer.body, signal));
  const headers = withoutHeaders(answer.headers, (name) => name === "content-length");
  const etagIndex = findHeaderIndex(headers, "etag");
  if (etagIndex !== -1) headers[etagIndex + 1] = withSuffix(headers[etagIndex + 1] ?? "", coding);
  headers.push("Content-Encoding", coding, "Content-Length", String(bytes.length), ...varies);
  return { status: answer.status, headers, body: bytes };
}

/** Nothing of the answer is out yet: one that breaks off is none. */
async function readBody(body: Buffer | Readable, signal: OriginRequest["signal"]): Promise<Buffer> {
  if (!(body instanceof Readable)) return body;
  try {
    return await buffer(body);
  } catch (error) {
    if (signal.aborted) throw new ClientGone("Nobody waits for the answer any more.", { cause: error });
    throw toServiceError(error);
  }
}

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/** Not the best that they can do: a client waits meanwhile. */
const packers: Readonly<Record<ContentCoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    brotli(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes) => gzipped(bytes, { level: 6 }),
};

/**
 * Says which copy is still good: the packed one when that was asked about. `Vary` is said as the whole answer would say it (RFC 9110, 15.4.5);
 * where the copy is not packed because the client takes none, its length is not known here, and `Vary` is said to be safe.
 */
function repack304(answer: OriginAnswer, request: OriginRequest, packing: ContentCoding | undefined): OriginAnswer {
  if (packing === undefined) return { ...answer, headers: [...answer.headers, ...varies] };
  const asked = findHeader(request.headers, "if-none-match") ?? "";
  let isPacked = false;
  const headers = answer.headers.map((value, at) => {
    if (at % 2 === 0 || !isHeaderNamed(answer.headers, at - 1, "etag")) return value;
    const packed = withSuffix(value, packing);
    isPacked = packed !== value && asked.includes(packed);
    return isPacked ? packed : value;
  });
  return { ...answer, headers: isPacked || asked.trim() === "*" ? [...headers, ...varies] : headers };
}

function withSuffix(tag: string, coding: ContentCoding): string {
  return tag.startsWith('"') ? `${tag.slice(0, -1)}-${coding}"` : tag;
}

const suffixes = { br: /-br"/g, gzip: /-gzip"/g, any: /-(?:br|gzip)"/g };

/** A tag of another packing than this request's stays as it is: the service does not know it, and sends the whole answer. */
function toPlainTags(headers: readonly string[], coding: ContentCoding | "any" | undefined): readonly string[] {
  let plain: string[] | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    // If-Match speaks of the resource as it was read, in whatever packing.
    const packing = isHeaderNamed(headers, at, "if-match")
      ? "any"
      : isHeaderNamed(headers, at, "if-none-match")
        ? coding
        : undefined;
    if (packing === undefined) continue;
    plain ??= [...headers];
    plain[at + 1] = (headers[at + 1] ?? "").replaceAll(suffixes[packing], '"');
  }
  return plain ?? headers;
}
