import type { AskedOfCache, CacheLookup } from "./cache/lookup.ts";
import type { ContentCoding } from "@tributary/kit/http/accept";

/**
 * What the cache looks for. `Accept` selects nothing any more: it has chosen the version, which is in the key; so a thousand spellings of it
 * are one. Of `Accept-Encoding` only the packing counts that it comes to.
 */
export function createLookup(
  request: AskedOfCache,
  service: string,
  key: string,
  coding: ContentCoding | undefined,
): CacheLookup {
  const { headers } = request;
  const selecting = (field: string) => {
    if (field === "accept") return undefined;
    if (field === "accept-encoding") return coding;
    const value = headers[field];
    return typeof value === "string" ? value : value?.join(", ");
  };
  return { origin: service, key, request, selecting };
}
