import type { CacheableRequest } from "../../cache-request.ts";
import { ageSeconds, type Entry, secondsLeft } from "../../entry.ts";
import { type Directives, parseCacheControl, secondsMax, secondsOf } from "../../policy.ts";
import type { RequestRules } from "../../reuse-rules.ts";

/** A client's `Cache-Control` counts in full (RFC 9111, 5.2.1), and conditions for the origin bypass the cache. */
export const fullRequestRules: RequestRules = {
  isForOrigin: ({ headers }) =>
    headers["range"] !== undefined || headers["if-match"] !== undefined || headers["if-unmodified-since"] !== undefined,
  isUsable: (entry, request, nowMs) => isFreshEnough(entry, directivesOf(request), nowMs),
  forbidsStoring: (request) => directivesOf(request).has("no-store"),
  forbidsForwarding: (request) => directivesOf(request).has("only-if-cached"),
};

function directivesOf({ headers }: CacheableRequest): Directives {
  return parseCacheControl(headers["cache-control"]);
}

function isFreshEnough(entry: Entry, directives: Directives, nowMs: number): boolean {
  if (directives.has("no-cache") || entry.policy.noCache) return false;
  const maxAgeSeconds = secondsOf(directives, "max-age") ?? secondsMax;
  if (ageSeconds(entry, nowMs) > maxAgeSeconds) return false;
  const minFreshSeconds = secondsOf(directives, "min-fresh") ?? 0;
  return secondsLeft(entry, nowMs) > minFreshSeconds - maxStaleSeconds(entry, directives);
}

/** `max-stale` (RFC 9111, 5.2.1.2), without a number for any time. */
function maxStaleSeconds({ policy }: Entry, directives: Directives): number {
  if (policy.neverStale) return 0;
  if (directives.get("max-stale") === true) return secondsMax;
  return secondsOf(directives, "max-stale") ?? 0;
}
