/** Whether a stored response may be sent without a request to the origin (RFC 9111, 4). */
import type { CacheableRequest } from "./cache-request.ts";
import { type Entry, isFresh, secondsLeft } from "./entry.ts";
import { parseCacheControl, secondsOf } from "./policy.ts";

/** What a client's headers demand of the cache (RFC 9111, 5.2.1). */
export interface RequestRules {
  /** Never served from the cache: `Range` (RFC 9110, 14.2), `If-Match` and `If-Unmodified-Since` (RFC 9111, 4.3.2). */
  isForOrigin(request: CacheableRequest): boolean;
  /** Fresh, and fresh enough for this client (RFC 9111, 4.2). */
  isUsable(entry: Entry, request: CacheableRequest, nowMs: number): boolean;
  forbidsStoring(request: CacheableRequest): boolean;
  forbidsForwarding(request: CacheableRequest): boolean;
}

/** A client must not be able to turn the cache off for others, so only `mustValidate` counts, once per interval and entry. */
export const boundedRequestRules: RequestRules = {
  isForOrigin: () => false,
  isUsable(entry, request, nowMs) {
    if (!isFresh(entry, nowMs)) return false;
    return !mustValidate(request) || isRecentValidation(entry.validationSentAtMs, nowMs);
  },
  forbidsStoring: () => false,
  forbidsForwarding: () => false,
};

const validationIntervalMs = 1_000;

/**
 * `no-cache` (RFC 9111, 5.2.1.4), `max-age=0` (5.2.1.1), or `Pragma: no-cache` without `Cache-Control` (RFC 7234, 5.4). The client gets a response
 * whose request was sent at most `validationIntervalMs` before its own arrived; if the origin fails, the entry that `stale-if-error` permits (RFC
 * 5861, 4), without a further request for `validationIntervalMs`.
 */
export function mustValidate({ headers }: CacheableRequest): boolean {
  const cacheControl = headers["cache-control"];
  const directivesText = cacheControl ?? headers["pragma"];
  if (directivesText === undefined) return false;
  const directives = parseCacheControl(directivesText);
  if (directives.has("no-cache")) return true;
  return cacheControl !== undefined && secondsOf(directives, "max-age") === 0;
}

/** @param sentAtMs undefined if no client's `mustValidate` caused the request: it may have been sent before the client's write. */
export function isRecentValidation(sentAtMs: number | undefined, nowMs: number): boolean {
  if (sentAtMs === undefined) return false;
  const elapsedMs = nowMs - sentAtMs;
  // Negative after the clock was set back.
  return elapsedMs >= 0 && elapsedMs < validationIntervalMs;
}

export type StaleRules = ReturnType<typeof createStaleRules>;

const errorStatuses: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Only if the origin permits it explicitly. RFC 9111, 4.2.4 would permit more while the origin is unreachable. */
export function createStaleRules(nowMs: () => number) {
  const failedRequestSentAtMs = new WeakMap<Entry, number>();

  function mayUseStale(entry: Entry, permittedSeconds: number | undefined): boolean {
    if (entry.isInvalidated || permittedSeconds === undefined) return false;
    if (entry.policy.neverStale || entry.policy.noCache) return false;
    const staleForSeconds = -secondsLeft(entry, nowMs());
    return staleForSeconds < permittedSeconds;
  }

  /** `stale-if-error` (RFC 5861, 4). A fresh entry needs it too if the client demands a validated one (RFC 9111, 4.3.3 and 5.2.1.4). */
  function mayOnError(entry: Entry, status: number | undefined): boolean {
    const isError = status === undefined || errorStatuses.has(status);
    return isError && mayUseStale(entry, entry.policy.ifErrorSeconds);
  }

  return {
    mayWhileRevalidating: (entry: Entry) => mayUseStale(entry, entry.policy.whileRevalidateSeconds),
    mayOnError,
    noteError(entry: Entry, sentAtMs: number): void {
      failedRequestSentAtMs.set(entry, sentAtMs);
    },
    /** Instead of a further request, for a client that demands a validation: one has just failed. */
    mayAfterError(entry: Entry): boolean {
      const hasJustFailed = isRecentValidation(failedRequestSentAtMs.get(entry), nowMs());
      return hasJustFailed && mayOnError(entry, undefined);
    },
  };
}

export interface FollowOptions {
  readonly nowMs: () => number;
  /**
   * Whether all changes at the origin reach this cache through `invalidate`. True: each use confirms an entry like a 304 (RFC 9111, 4.3.4), until
   * `followedMsMax` after its request. False: an entry older than `unfollowedMsMax` is validated, and none is sent while it is refreshed. Undefined:
   * only the declared freshness counts.
   */
  readonly isFollowed?: (origin: string) => boolean | undefined;
}

export type FollowRules = ReturnType<typeof createFollowRules>;

/** A change that is never published is noticed after this time at the latest. */
const followedMsMax = 60_000;
const unfollowedMsMax = 2_000;

export function createFollowRules({ nowMs, isFollowed = () => undefined }: FollowOptions) {
  /** False after the clock was set back. */
  function isYoungerThan(ms: number, { requestedAtMs }: Entry): boolean {
    const elapsedMs = nowMs() - requestedAtMs;
    return elapsedMs >= 0 && elapsedMs < ms;
  }

  return {
    /** Resets the age of an entry of a followed origin that is younger than `followedMsMax`; not of an error, so that a wrong 404 ends soon. */
    confirm(entry: Entry | undefined): Entry | undefined {
      if (!entry || entry.status >= 400 || isFollowed(entry.origin) !== true) return entry;
      if (isYoungerThan(followedMsMax, entry)) entry.confirmedAtMs = nowMs();
      return entry;
    },
    /** As far as the cache can know. */
    isCurrent(entry: Entry): boolean {
      if (entry.isInvalidated) return false;
      const isUnfollowed = isFollowed(entry.origin) === false;
      return !isUnfollowed || isYoungerThan(unfollowedMsMax, entry);
    },
    mayRefresh: ({ origin }: Entry) => isFollowed(origin) !== false,
  };
}
