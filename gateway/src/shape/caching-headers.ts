// Stage 5 of 5: shape. The headers of a response that caches may store.
import { createHash } from "node:crypto";
import { type TagHeader, writeTags } from "@tributary/kit/rest/cache-tags";
import { writeGroups } from "@tributary/kit/rest/caching";
import type { ResponseCaching } from "../run/caching/response-caching.ts";

/** CDNs may use a response this long, whatever its freshness: purging improves freshness, this limit guarantees it. */
const cdnSecondsMax = 10;

/**
 * As a raw list. Browsers revalidate each time, since no invalidation reaches them. No stale responses: they would not be invalidated.
 * @param tagHeader besides `Cache-Groups`; undefined for none.
 */
export function listCachingHeaders(
  { seconds, groups }: ResponseCaching,
  tagHeader: TagHeader | undefined,
): readonly string[] {
  const sharedSeconds = Math.min(seconds, cdnSecondsMax);
  return [
    ...["Cache-Control", `public, max-age=0, s-maxage=${sharedSeconds}`],
    ...["CDN-Cache-Control", `public, max-age=${sharedSeconds}`],
    ...(groups.length > 0 ? ["Cache-Groups", writeGroups(groups)] : []),
    ...(groups.length > 0 && tagHeader ? [tagHeader, writeTags(tagHeader, groups)] : []),
  ];
}

/** The body's part of a strong validator (RFC 9110, 8.8.3), without quotes: send-response.ts adds the content coding. */
export function etagOfBody(body: Buffer): string {
  return createHash("sha256").update(body).digest("base64url").slice(0, 22);
}
