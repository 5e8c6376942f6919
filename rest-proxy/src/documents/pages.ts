/** The pages of the documentation: compressed once, at the start of the process, and served from memory. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { matchesIfNoneMatch } from "@tributary/kit/http/etag";
import { chooseContentCoding, chooseMediaType } from "@tributary/kit/http/accept";
import { toProblemDocument } from "@tributary/kit/http/problem";
import { methodNotAllowed } from "../route/route-table.ts";

export interface PageSource {
  readonly path: string;
  /** One text for each media type. The first one is for clients that accept none of the types. */
  readonly variants: readonly { readonly type: string; readonly text: string }[];
  /** Default: clients may use a stored response for a minute. */
  readonly cacheControl?: string;
  /** The `Content-Security-Policy` of the HTML. Default: that of the documentation. */
  readonly policy?: string;
  /** Additional response headers: alternating names and values. */
  readonly headers?: readonly string[];
}

export interface PageResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** Empty for a response without a body. */
  readonly bytes: Buffer;
}

export interface Page {
  readonly path: string;
  /** For `Allow`. */
  readonly allow: string;
  /** The response to any method but `OPTIONS`: 200, 304 if `If-None-Match` matches, or 405 as a problem document. */
  respond(method: string, headers: NegotiationHeaders): PageResponse;
}

export type NegotiationHeaders = Pick<IncomingHttpHeaders, "accept" | "accept-encoding" | "if-none-match">;
type Encoding = "identity" | "gzip" | "br";

/** One text in one content coding. */
interface EncodedText {
  /** `Content-Type`, `Content-Length` and `Content-Encoding`: only a 200 has them. */
  readonly contentHeaders: readonly string[];
  readonly etag: string;
  readonly bytes: Buffer;
}

type TextByEncoding = Readonly<Record<Encoding, EncodedText>>;

const emptyBody = Buffer.alloc(0);
const allowedMethods = "GET, HEAD, OPTIONS";

/**
 * `Cache-Control` of resources that must be from one release: HTML, style sheet, scripts and search index. Clients send their ETags with
 * each request, so that a stored page is not combined with the scripts of a later release.
 */
export const revalidated = "public, no-cache";

/** Compresses the pages and computes their ETags. @param issuerUrl the local token issuer; undefined in production. */
export function createPages(sources: readonly PageSource[], issuerUrl: string | undefined): readonly Page[] {
  const defaultPolicy = createPolicy(issuerUrl);
  return sources.map((source) => createPage({ policy: defaultPolicy, ...source }));
}

function createPage(source: PageSource & { readonly policy: string }): Page {
  const { path, variants, cacheControl = "public, max-age=60", policy, headers: additionalHeaders = [] } = source;
  const types = variants.map(({ type }) => type);
  const encodedByType = new Map(variants.map(({ type, text }) => [type, encode(type, text)]));
  const vary = types.length > 1 ? "Accept, Accept-Encoding" : "Accept-Encoding";
  return {
    path,
    allow: allowedMethods,
    respond(method, requestHeaders) {
      if (method !== "GET" && method !== "HEAD") return rejectMethod(path);
      const type = chooseMediaType(requestHeaders.accept, types) ?? types[0] ?? "";
      const encoded = chooseEncoding(encodedByType.get(type), requestHeaders["accept-encoding"]);
      const { contentHeaders, etag, bytes } = encoded;
      const headers = [
        "ETag",
        etag,
        "Vary",
        vary,
        "Cache-Control",
        cacheControl,
        ...securityHeaders(type, policy),
        ...additionalHeaders,
      ];
      const noneMatch = requestHeaders["if-none-match"];
      if (noneMatch !== undefined && matchesIfNoneMatch(noneMatch, etag)) {
        return { status: 304, headers, bytes: emptyBody };
      }
      return { status: 200, headers: [...headers, ...contentHeaders], bytes: method === "HEAD" ? emptyBody : bytes };
    },
  };
}

function rejectMethod(path: string): PageResponse {
  const problem = toProblemDocument(methodNotAllowed(allowedMethods), { instance: path });
  const bytes = Buffer.from(JSON.stringify(problem));
  const headers = [
    "Allow",
    allowedMethods,
    "Cache-Control",
    "no-store",
    "Content-Type",
    "application/problem+json",
    "Content-Length",
    String(bytes.length),
  ];
  return { status: 405, headers, bytes };
}

/**
 * Nothing inline and nothing from other origins. Scripts may send requests to this origin, for the search and the try-it forms, and to the
 * token issuer, and may not write HTML (Trusted Types).
 */
function createPolicy(issuerUrl: string | undefined): string {
  const issuer = issuerUrl === undefined ? "" : ` ${new URL(issuerUrl).origin}`;
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    `connect-src 'self'${issuer}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** Only HTML has security headers. */
function securityHeaders(type: string, policy: string): readonly string[] {
  return type === "text/html" ? ["Content-Security-Policy", policy, "Referrer-Policy", "no-referrer"] : [];
}

function chooseEncoding(encoded: TextByEncoding | undefined, acceptEncoding: string | undefined): EncodedText {
  if (encoded === undefined) throw new Error("A page has no variant of one of its types.");
  return encoded[chooseContentCoding(acceptEncoding, ["br", "gzip"]) ?? "identity"];
}

/** Brotli's default quality, 11, would delay the start by a second and save a few per cent. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

function encode(type: string, text: string): TextByEncoding {
  const bytes = Buffer.from(text);
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
  const contentType = type.startsWith("text/") ? `${type}; charset=utf-8` : type;
  const compressed = (encoding: "gzip" | "br", compressedBytes: Buffer): EncodedText => ({
    etag: `"${hash}-${encoding}"`,
    contentHeaders: [...contentHeadersOf(contentType, compressedBytes), "Content-Encoding", encoding],
    bytes: compressedBytes,
  });
  return {
    identity: { etag: `"${hash}"`, contentHeaders: contentHeadersOf(contentType, bytes), bytes },
    gzip: compressed("gzip", gzipSync(bytes)),
    br: compressed("br", brotliCompressSync(bytes, brotliOptions)),
  };
}

function contentHeadersOf(contentType: string, bytes: Buffer): readonly string[] {
  return ["Content-Type", contentType, "Content-Length", String(bytes.length)];
}
