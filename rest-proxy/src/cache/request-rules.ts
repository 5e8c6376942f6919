import { ageSeconds } from "./age.ts";
import { type Directives, parseCacheControl, secondsMax, secondsOf } from "./cache-control.ts";
import { type Entry, isFresh, secondsLeft } from "./entry.ts";
import type { CacheableRequest } from "./lookup.ts";

/** What a client's `GET` or `HEAD` demands of the cache. */
export interface RequestRules {
  /** Only the origin can evaluate it: `Range` (RFC 9110, 14.2), `If-Match` and `If-Unmodified-Since` (RFC 9111, 4.3.2). */
  isForOrigin(request: CacheableRequest): boolean;
  /** The stored response may be sent without a request to the origin: fresh, and fresh enough for this client (RFC 9111, 4.2 and 5.2.1). */
  isUsable(entry: Entry, request: CacheableRequest, nowMs: number): boolean;
  /** RFC 9111, 5.2.1.5. */
  forbidsStoring(request: CacheableRequest): boolean;
  /** RFC 9111, 5.2.1.7. */
  forbidsAsking(request: CacheableRequest): boolean;
}

const none: Directives = new Map();

/**
 * With `obeys`, every directive of the client counts. Without, `isUsable` grants `mustValidate` at most once per `validationIntervalMs` and cache
 * entry, and every other directive and `isForOrigin` is ignored: a client must not be able to turn the cache off for others.
 */
export function createRequestRules(obeys: boolean): RequestRules {
  const directivesOf = ({ headers }: CacheableRequest) => {
    const text = obeys ? headers["cache-control"] : undefined;
    return text === undefined ? none : parseCacheControl(text);
  };
  return {
    isForOrigin({ headers }) {
      if (!obeys) return false;
      return (
        headers["range"] !== undefined ||
        headers["if-match"] !== undefined ||
        headers["if-unmodified-since"] !== undefined
      );
    },
    isUsable(entry, request, nowMs) {
      if (obeys) return isFreshEnough(entry, directivesOf(request), nowMs);
      return isFresh(entry, nowMs) && (!mustValidate(request) || isRecentValidation(entry.validationSentAtMs, nowMs));
    },
    forbidsStoring: (request) => directivesOf(request).has("no-store"),
    forbidsAsking: (request) => directivesOf(request).has("only-if-cached"),
  };
}

/** A validation that one client demanded is used for all clients that demand one this long, counted from when it was sent to the origin. */
const validationIntervalMs = 1_000;

/**
 * Whether the client accepts only a response that the origin has just confirmed: `no-cache` (RFC 9111, 5.2.1.4), `max-age=0`, which accepts an
 * age of less than a second (5.2.1.1), or `Pragma: no-cache` without `Cache-Control` (RFC 7234, 5.4). Such a request that arrives at time t gets
 * a response whose request was sent to the origin at most `validationIntervalMs` before t. If the origin fails and `stale-if-error` permits the
 * stored response (RFC 5861, 4), the client gets that one, for as long without another request to the origin (`StaleRules.mayAfterError`).
 */
export function mustValidate({ headers }: CacheableRequest): boolean {
  const text = headers["cache-control"] ?? headers["pragma"];
  if (text === undefined) return false;
  const directives = parseCacheControl(text);
  return directives.has("no-cache") || (text === headers["cache-control"] && secondsOf(directives, "max-age") === 0);
}

/** @param sentAtMs undefined for a request to the origin that no client's `mustValidate` caused: it may have been sent before the client's write. */
export function isRecentValidation(sentAtMs: number | undefined, nowMs: number): boolean {
  if (sentAtMs === undefined) return false;
  const passedMs = nowMs - sentAtMs;
  // Negative after the clock was set back.
  return passedMs >= 0 && passedMs < validationIntervalMs;
}

function isFreshEnough(entry: Entry, directives: Directives, nowMs: number): boolean {
  if (directives.has("no-cache") || entry.policy.noCache) return false;
  const ageMax = secondsOf(directives, "max-age") ?? secondsMax;
  if (ageSeconds(entry.bornAtMs, nowMs) > ageMax) return false;
  return secondsLeft(entry, nowMs) > (secondsOf(directives, "min-fresh") ?? 0) - staleSeconds(entry, directives);
}

/** RFC 9111, 5.2.1.2: without a number, of whatever age. */
function staleSeconds({ policy }: Entry, directives: Directives): number {
  if (policy.neverStale) return 0;
  return directives.get("max-stale") === true ? secondsMax : (secondsOf(directives, "max-stale") ?? 0);
}
