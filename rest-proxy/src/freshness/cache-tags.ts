/** The cache groups of a response in the header by which a CDN purges (CDN_TAG_HEADER). */
import { type TagHeader, writeTags } from "@tributary/kit/rest/cache-tags";
import { joinHeaderLines, withoutHeaders } from "@tributary/kit/http/raw-headers";
import type { OriginResponse } from "../cache/cache-request.ts";
import { groupNames } from "../cache/entry.ts";

export function addCacheTags(response: OriginResponse, tagHeader: TagHeader | undefined): OriginResponse {
  if (tagHeader === undefined) return response;
  const groups = groupNames(joinHeaderLines(response.headers, "cache-groups"));
  if (groups.length === 0) return response;
  const headers = withoutHeaders(response.headers, (name) => name === tagHeader.toLowerCase());
  return { ...response, headers: [...headers, tagHeader, writeTags(tagHeader, groups)] };
}
