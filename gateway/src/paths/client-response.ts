// The HTTP response to an executed operation. pipeline.ts calls it.
import { createHash } from "node:crypto";
import { receiptHeader } from "@tributary/kit/consistency/receipts";
import { type TagHeader, writeTags } from "@tributary/kit/rest/cache-tags";
import { writeGroups } from "@tributary/kit/rest/caching";
import type { ExecutedOperation } from "../engine/execution.ts";
import { statuses } from "../errors/statuses.ts";
import { chooseStatus, type ClientResponse, contentTypeOf, type ResponseType } from "../response.ts";
import type { Settings } from "../settings.ts";
import type { ResponseCaching } from "../engine/run/caching/response-caching.ts";
import { listTimings } from "./server-timing.ts";

/** CDNs may use a response for at most this time, however long it is fresh: purging improves freshness, this limit guarantees it. */
const cdnSecondsMax = 10;
/** 22 base64url characters are 132 bits of the hash. */
const etagCharacters = 22;

/**
 * @param arrivedMs when the request arrived, by the monotonic clock.
 * @param tagHeader the header for a CDN besides `Cache-Groups`; undefined for none.
 */
export function toClientResponse(
  { body, isOwn, summary, caching, receipt, startsMs }: ExecutedOperation,
  responseType: ResponseType,
  settings: Pick<Settings, "usesDraftStatuses">,
  arrivedMs: number,
  tagHeader: TagHeader | undefined,
): ClientResponse {
  const status = chooseStatus(summary ? statuses.resultWithErrors : statuses.result, responseType, settings);
  const contentType = contentTypeOf(responseType);
  if (caching)
    return {
      status,
      contentType,
      body,
      isOwn,
      headers: listCachingHeaders(caching, tagHeader),
      etag: etagOfBody(body),
    };
  if (!startsMs && receipt === undefined) return { status, contentType, body, isOwn, summary };
  const headers = startsMs ? [...listTimings(arrivedMs, startsMs)] : [];
  if (receipt !== undefined) headers.push(receiptHeader, receipt);
  return { status, contentType, body, isOwn, summary, headers };
}

/**
 * As a raw list. Browsers revalidate each time, since no invalidation reaches them. The headers permit no stale responses, since those would not be
 * invalidated.
 */
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

/** Without quotes and content coding, which send-response.ts adds. */
function etagOfBody(body: Buffer): string {
  return createHash("sha256").update(body).digest("base64url").slice(0, etagCharacters);
}
