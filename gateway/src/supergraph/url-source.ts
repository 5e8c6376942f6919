// Reads a text, such as the supergraph, from a URL, or from the first of several that has it.
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { parseHttpDate } from "@tributary/kit/http/http-date";
import { collectBody } from "@tributary/kit/http/receive-body";
import { readRegularFile } from "@tributary/kit/process/regular-file";
import { type Dispatcher, request } from "undici";
import { splitCredentials } from "../subgraph-settings/url-credentials.ts";
import type { SourceHeaders } from "./supergraph-schema.ts";
import type { TextSource } from "./text-source.ts";

export interface UrlSourceOptions {
  /** Each is read only if those before it fail. */
  readonly urls: readonly string[];
  readonly headers?: SourceHeaders;
  /** Of one URL, body included. */
  readonly timeoutMs?: number;
  /** Decompressed. */
  readonly bodyBytesMax?: number;
}

interface LastText {
  readonly url: string;
  readonly etag: string | undefined;
  readonly text: string;
  /** When the origin generated the response. */
  readonly generatedAtMs: number;
}

const decompressors = new Map([
  ["gzip", createGunzip],
  ["br", createBrotliDecompress],
]);

/**
 * Follows no redirects: they would take the headers to another address. Sends `If-None-Match` (RFC 9110, section 13.1.2), so that an unchanged
 * text is not sent again. Not `If-Modified-Since`: dates are in seconds, so the second of two texts within one would never be read, nor
 * an earlier one with its old date.
 */
export function createUrlSource({
  urls,
  headers = {},
  timeoutMs = 10_000,
  bodyBytesMax = 50_000_000,
}: UrlSourceOptions): TextSource {
  let last: LastText | undefined;

  async function readFrom(url: string, signal: AbortSignal): Promise<string | undefined> {
    const etag = last?.url === url ? last.etag : undefined;
    const { authorization } = splitCredentials([url]);
    const response = await request(url, {
      headers: {
        accept: "text/plain, */*",
        ...(authorization === undefined ? {} : { authorization }),
        ...(await resolveHeaders(headers)),
        "accept-encoding": "gzip, br",
        ...(etag === undefined ? {} : { "if-none-match": etag }),
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (response.statusCode === 304 && etag !== undefined) {
      await response.body.dump();
      return undefined;
    }
    const text = await readText(response, bodyBytesMax);
    const generatedAtMs = generatedAt(response.headers);
    // A cache in between that has not got the new one yet must not bring the old one back.
    if (last && text !== last.text && generatedAtMs < last.generatedAtMs)
      throw new Error("the response is older than the one before: a cache sent it");
    last = { url, etag: textOf(response.headers["etag"]), text, generatedAtMs };
    return text;
  }

  return {
    name: urls.map(nameOf).join(", "),
    async read(signal) {
      const failures: string[] = [];
      for (const url of urls) {
        try {
          return await readFrom(url, signal);
        } catch (error) {
          signal.throwIfAborted();
          failures.push(`${nameOf(url)}: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
      throw new Error(failures.join("; "));
    },
  };
}

/** Without the query string, which may be a secret. */
function nameOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

async function resolveHeaders(headers: SourceHeaders): Promise<Record<string, string>> {
  const lines = Object.entries(headers).map(async ([name, value]): Promise<[string, string]> => {
    const text = typeof value === "string" ? value : (await readRegularFile(value.file)).trim();
    return [name.toLowerCase(), text];
  });
  return Object.fromEntries(await Promise.all(lines));
}

/** @throws Error for every response without a text. A page of HTML is one of a login or a proxy, whatever its status. */
async function readText({ statusCode, headers, body }: Dispatcher.ResponseData, bytesMax: number): Promise<string> {
  const encoding = (textOf(headers["content-encoding"]) ?? "identity").toLowerCase();
  const isKnown = encoding === "identity" || decompressors.has(encoding);
  const problem =
    findProblem(statusCode, textOf(headers["content-type"])) ??
    (isKnown ? undefined : `the encoding ${encoding} is not supported`);
  if (problem !== undefined) {
    await body.dump();
    throw new Error(problem);
  }
  const tooLarge = () => new Error(`the text has more than ${bytesMax} bytes`);
  const text = (await collectBody(decompress(body, encoding), bytesMax, tooLarge)).toString("utf8");
  if (text.trim() === "") throw new Error("the body is empty");
  return text;
}

function findProblem(status: number, contentType = ""): string | undefined {
  if (status >= 300 && status < 400 && status !== 304)
    return `the status is ${status}; redirects are not followed, so set the URL that it leads to`;
  if (status !== 200) return `the status is ${status}`;
  return contentType.toLowerCase().startsWith("text/html") ? "the body is HTML, so it is a page" : undefined;
}

function decompress(body: Readable, encoding: string): Readable {
  const decompressor = decompressors.get(encoding)?.();
  // An error of either ends both; the reader of the second one gets it.
  return decompressor ? pipeline(body, decompressor, () => {}) : body;
}

/**
 * RFC 9111, section 4.2.3: a cache sends the `Date` of the origin, or its `Age`. At most now, so that a clock which is ahead does not outdate what
 * comes later. NaN, which is older than nothing, if the response has neither.
 */
function generatedAt(headers: Dispatcher.ResponseData["headers"]): number {
  const nowMs = Date.now();
  const dateMs = parseHttpDate(textOf(headers["date"]) ?? "");
  const age = textOf(headers["age"]);
  const ageMs = age !== undefined && /^\d{1,10}$/.test(age) ? 1_000 * Number(age) : undefined;
  if (dateMs === undefined && ageMs === undefined) return Number.NaN;
  return Math.min(nowMs, dateMs ?? Infinity, nowMs - (ageMs ?? 0));
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}
