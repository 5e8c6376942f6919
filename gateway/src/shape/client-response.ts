// Stage 5 of 5: shape. Assembles the response to an operation that ran: status, headers and additions to the body.
import { createHash } from "node:crypto";
import { receiptHeader } from "@tributary/kit/consistency/receipts";
import { type TagHeader, writeTags } from "@tributary/kit/rest/cache-tags";
import { writeGroups } from "@tributary/kit/rest/caching";
import { type ClientResponse, contentTypeOf, type ResponseType, statusFor } from "../response.ts";
import type { ResponseCaching } from "../run/caching/response-caching.ts";

/** However long a response is fresh: purging improves freshness, this limit guarantees it. */
const cdnSecondsMax = 10;

/** The status is 200 also if `data` is null: `statusFor` changes only the status of rejections. */
export function toClientResponse(
  responseType: ResponseType,
  result: Pick<ClientResponse, "body" | "summary" | "headers">,
): ClientResponse {
  return { status: statusFor(200, responseType), contentType: contentTypeOf(responseType), ...result };
}

/** The caching headers replace `response.headers`, which contain at most `Server-Timing`. */
export function toCacheableResponse(
  response: ClientResponse,
  caching: ResponseCaching,
  tagHeader: TagHeader | undefined,
): ClientResponse {
  return { ...response, headers: listCachingHeaders(caching, tagHeader), etag: etagOfBody(response.body) };
}

/** Browsers revalidate each time, since no invalidation reaches them. No stale responses, since those would not be invalidated. */
function listCachingHeaders({ seconds, groups }: ResponseCaching, tagHeader: TagHeader | undefined): readonly string[] {
  const sharedSeconds = Math.min(seconds, cdnSecondsMax);
  const headers: string[] = [];
  headers.push("Cache-Control", `public, max-age=0, s-maxage=${sharedSeconds}`);
  headers.push("CDN-Cache-Control", `public, max-age=${sharedSeconds}`);
  if (groups.length === 0) return headers;
  headers.push("Cache-Groups", writeGroups(groups));
  if (tagHeader) headers.push(tagHeader, writeTags(tagHeader, groups));
  return headers;
}

/** 132 bits of the hash. */
const etagCharacters = 22;

/** Without quotes: send-response.ts adds the content coding (RFC 9110, 8.8.3). */
function etagOfBody(body: Buffer): string {
  const hash = createHash("sha256").update(body).digest("base64url");
  return hash.slice(0, etagCharacters);
}

interface Additions {
  readonly queryPlan: unknown;
  /** Undefined for a query, and if the services reported no position. */
  readonly receipt: string | undefined;
  readonly isReceiptInBody: boolean;
}

export function addPlanAndReceipt(
  response: ClientResponse,
  { queryPlan, receipt, isReceiptInBody }: Additions,
): ClientResponse {
  const headers = [...(response.headers ?? [])];
  if (receipt !== undefined) headers.push(receiptHeader, receipt);
  const extensions: Record<string, unknown> = {};
  if (queryPlan !== undefined) extensions["queryPlan"] = queryPlan;
  if (receipt !== undefined && isReceiptInBody) extensions["consistencyToken"] = receipt;
  const hasExtensions = Object.keys(extensions).length > 0;
  const body = hasExtensions ? withExtensions(response.body, extensions) : response.body;
  return { ...response, headers, body };
}

/** @param body a JSON object without `extensions`. */
function withExtensions(body: Buffer, extensions: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.concat([body.subarray(0, -1), Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`)]);
}
