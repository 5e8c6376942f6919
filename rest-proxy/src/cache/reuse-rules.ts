/**
 * Whether a stored response may be reused, that is, sent without a request to the origin (RFC 9111, 4): what the client demands, and what the origin
 * permits when the response is stale. `policy.ts` decides whether a response is stored.
 */
import type { CacheableRequest } from "./cache-request.ts";
import { ageSeconds, type Entry, isFresh, secondsLeft } from "./entry.ts";
import { type Directives, parseCacheControl, secondsMax, secondsOf } from "./policy.ts";

/** What the headers of a client's `GET` or `HEAD` demand of the cache. */
export interface RequestRules {
  /** Only the origin can evaluate the request: `Range` (RFC 9110, 14.2), `If-Match` and `If-Unmodified-Since` (RFC 9111, 4.3.2). */
  isForOrigin(request: CacheableRequest): boolean;
  /** The stored response may be sent without a request to the origin: fresh, and fresh enough for this client (RFC 9111, 4.2 and 5.2.1). */
  isUsable(entry: Entry, request: CacheableRequest, nowMs: number): boolean;
  /** `no-store` (RFC 9111, 5.2.1.5). */
  forbidsStoring(request: CacheableRequest): boolean;
  /** `only-if-cached` (RFC 9111, 5.2.1.7). */
  forbidsForwarding(request: CacheableRequest): boolean;
}

const noDirectives: Directives = new Map();

/**
 * @param obeys true: every directive of the client counts. False: a client must not be able to turn the cache off for others, so only
 * `mustValidate` counts, at most once per `validationIntervalMs` and cache entry; `isForOrigin`, `forbidsStoring` and `forbidsForwarding` are false.
 */
export function createRequestRules(obeys: boolean): RequestRules {
  const directivesOf = ({ headers }: CacheableRequest) => {
    const cacheControl = headers["cache-control"];
    if (!obeys || cacheControl === undefined) return noDirectives;
    return parseCacheControl(cacheControl);
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
      if (!isFresh(entry, nowMs)) return false;
      return !mustValidate(request) || isRecentValidation(entry.validationSentAtMs, nowMs);
    },
    forbidsStoring: (request) => directivesOf(request).has("no-store"),
    forbidsForwarding: (request) => directivesOf(request).has("only-if-cached"),
  };
}

/** For this long after a validation was sent to the origin, other clients that demand a validation use its result. */
const validationIntervalMs = 1_000;

/**
 * Whether the client accepts only a response that the origin has just confirmed: `no-cache` (RFC 9111, 5.2.1.4), `max-age=0`, which accepts an
 * age of less than a second (5.2.1.1), or `Pragma: no-cache` without `Cache-Control` (RFC 7234, 5.4). Such a request that arrives at time t gets
 * a response whose request was sent to the origin at most `validationIntervalMs` before t. If the origin fails and `stale-if-error` permits the
 * stored response (RFC 5861, 4), the client gets that one; until `validationIntervalMs` after the failed request was sent, it causes no further
 * request to the origin (`StaleRules.mayAfterError`).
 */
export function mustValidate({ headers }: CacheableRequest): boolean {
  const cacheControl = headers["cache-control"];
  const directivesText = cacheControl ?? headers["pragma"];
  if (directivesText === undefined) return false;
  const directives = parseCacheControl(directivesText);
  if (directives.has("no-cache")) return true;
  return cacheControl !== undefined && secondsOf(directives, "max-age") === 0;
}

/**
 * Whether a validation was sent to the origin less than `validationIntervalMs` ago.
 * @param sentAtMs undefined for a request to the origin that no client's `mustValidate` caused: it may have been sent before the client's write.
 */
export function isRecentValidation(sentAtMs: number | undefined, nowMs: number): boolean {
  if (sentAtMs === undefined) return false;
  const elapsedMs = nowMs - sentAtMs;
  // Negative after the clock was set back.
  return elapsedMs >= 0 && elapsedMs < validationIntervalMs;
}

function isFreshEnough(entry: Entry, directives: Directives, nowMs: number): boolean {
  if (directives.has("no-cache") || entry.policy.noCache) return false;
  const maxAgeSeconds = secondsOf(directives, "max-age") ?? secondsMax;
  if (ageSeconds(entry, nowMs) > maxAgeSeconds) return false;
  const minFreshSeconds = secondsOf(directives, "min-fresh") ?? 0;
  return secondsLeft(entry, nowMs) > minFreshSeconds - maxStaleSeconds(entry, directives);
}

/** How long after its end of freshness the client accepts the response: `max-stale` (RFC 9111, 5.2.1.2), without a number for any time. */
function maxStaleSeconds({ policy }: Entry, directives: Directives): number {
  if (policy.neverStale) return 0;
  if (directives.get("max-stale") === true) return secondsMax;
  return secondsOf(directives, "max-stale") ?? 0;
}

/**
 * Whether a stale response may be sent: only if the origin permits it explicitly, for the number of seconds that it names. RFC 9111, 4.2.4 would
 * permit more while the origin is unreachable.
 */
export interface StaleRules {
  /** The entry may be sent while it is refreshed: `stale-while-revalidate` (RFC 5861, 3). */
  mayWhileRevalidating(entry: Entry): boolean;
  /**
   * The entry may be sent instead of an error: `stale-if-error` (RFC 5861, 4), if the origin responded with 500, 502, 503 or 504, or not at all. A
   * fresh entry needs `stale-if-error` too: the client's `no-cache` demands an entry that the origin has validated, so without permission the client
   * gets the error (RFC 9111, 4.3.3 and 5.2.1.4).
   * @param status undefined without a response.
   */
  mayOnError(entry: Entry, status: number | undefined): boolean;
  /** Records that the entry was sent instead of the error of a request that was sent to the origin at `sentAtMs`. */
  noteError(entry: Entry, sentAtMs: number): void;
  /**
   * The entry may be sent without a further request to the origin to a client that demands a validation: a validation has failed less than
   * `validationIntervalMs` ago, and `mayOnError` permits it.
   */
  mayAfterError(entry: Entry): boolean;
}

const errorStatuses: ReadonlySet<number> = new Set([500, 502, 503, 504]);

export function createStaleRules(nowMs: () => number): StaleRules {
  /** When the last failed request was sent to validate an entry, for entries that are in the store. */
  const failedRequestSentAtMs = new WeakMap<Entry, number>();

  /** Whether the entry has been stale for less than this time, which the origin permits; undefined: no permission. */
  function mayUseStale(entry: Entry, permittedSeconds: number | undefined): boolean {
    if (entry.isInvalidated || permittedSeconds === undefined) return false;
    if (entry.policy.neverStale || entry.policy.noCache) return false;
    const staleForSeconds = -secondsLeft(entry, nowMs());
    return staleForSeconds < permittedSeconds;
  }

  function mayOnError(entry: Entry, status: number | undefined): boolean {
    const isError = status === undefined || errorStatuses.has(status);
    return isError && mayUseStale(entry, entry.policy.ifErrorSeconds);
  }

  return {
    mayWhileRevalidating: (entry) => mayUseStale(entry, entry.policy.whileRevalidateSeconds),
    mayOnError,
    noteError(entry, sentAtMs) {
      failedRequestSentAtMs.set(entry, sentAtMs);
    },
    mayAfterError(entry) {
      const hasJustFailed = isRecentValidation(failedRequestSentAtMs.get(entry), nowMs());
      return hasJustFailed && mayOnError(entry, undefined);
    },
  };
}

export interface FollowOptions {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /**
   * Whether all changes at the origin reach this cache through `invalidate`.
   *
   * True: each use confirms an entry like a 304 of the origin (RFC 9111, 4.3.4). Its age is 0, its `Date` is the present, and its whole lifetime
   * begins again, until `followedMsMax` after its request. False: an entry older than `unfollowedMsMax` is validated before it is sent, whatever its
   * freshness, and no stale entry is sent while it is refreshed. Undefined, the default: only the freshness that the responses declare counts.
   */
  readonly isFollowed?: (origin: string) => boolean | undefined;
  /** Default 60,000: a change that is never published is noticed after this time at the latest. See `isFollowed`. */
  readonly followedMsMax?: number;
  /** Default 2,000. See `isFollowed`. */
  readonly unfollowedMsMax?: number;
}

/** What it means for entries that changes at their origin reach the cache, or do not (`FollowOptions.isFollowed`). */
export interface FollowRules {
  /** If the origin is followed, resets the age of an entry that was requested less than `followedMsMax` ago to 0. Returns the entry. */
  confirm(entry: Entry | undefined): Entry | undefined;
  /** Whether no change has outdated the entry, as far as the cache can know: if it is fresh, it may be sent. */
  isCurrent(entry: Entry): boolean;
  /** Whether a stale entry may be sent while it is refreshed. */
  mayRefresh(entry: Entry): boolean;
}

export function createFollowRules({
  nowMs,
  isFollowed = () => undefined,
  followedMsMax = 60_000,
  unfollowedMsMax = 2_000,
}: FollowOptions): FollowRules {
  /** Whether the entry was requested less than `ms` ago. False after the clock was set back. */
  function isYoungerThan(ms: number, { requestedAtMs }: Entry): boolean {
    const elapsedMs = nowMs() - requestedAtMs;
    return elapsedMs >= 0 && elapsedMs < ms;
  }

  return {
    confirm(entry) {
      if (!entry || isFollowed(entry.origin) !== true) return entry;
      if (isYoungerThan(followedMsMax, entry)) entry.confirmedAtMs = nowMs();
      return entry;
    },
    isCurrent(entry) {
      if (entry.isInvalidated) return false;
      const isUnfollowed = isFollowed(entry.origin) === false;
      return !isUnfollowed || isYoungerThan(unfollowedMsMax, entry);
    },
    mayRefresh: ({ origin }) => isFollowed(origin) !== false,
  };
}
