import { type Entry, secondsLeft } from "./entry.ts";
import { isRecentValidation } from "./request-rules.ts";

/**
 * What may be done with an answer that is stale, the seconds counted from when it became so. Only what the origin allows in so many words: an origin
 * that cannot be reached is no leave by itself, though RFC 9111, 4.2.4 would have it so.
 */
export interface StaleRules {
  /** RFC 5861, 3. */
  mayWhileRevalidating(entry: Entry): boolean;
  /**
   * RFC 5861, 4: the origin responded with 500, 502, 503 or 504, or not at all. A fresh entry needs `stale-if-error` too: the client's `no-cache`
   * demands an entry that the origin has validated, so without leave the client gets the error (RFC 9111, 4.3.3 and 5.2.1.4).
   */
  mayOnError(entry: Entry, status: number | undefined): boolean;
  /** Records that the entry was sent instead of the error of a request that was sent to the origin at `sentAtMs`. */
  noteError(entry: Entry, sentAtMs: number): void;
  /** `mayOnError` for a client that demands a validation while a failed one is recent: it gets the entry without a further request to the origin. */
  mayAfterError(entry: Entry): boolean;
}

const errors: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Answers that the origin took back are not in the store any more, so none of this can bring them out again (RFC 9111, 4.4). */
export function createStaleRules(nowMs: () => number): StaleRules {
  /** When the last request that failed was sent, for entries that are in the store. */
  const failedAtMs = new WeakMap<Entry, number>();
  const isWithin = (entry: Entry, seconds: number | undefined) => {
    const { neverStale, noCache } = entry.policy;
    return seconds !== undefined && !neverStale && !noCache && -secondsLeft(entry, nowMs()) < seconds;
  };
  const mayOnError = (entry: Entry, status: number | undefined) =>
    (status === undefined || errors.has(status)) && isWithin(entry, entry.policy.ifErrorSeconds);
  return {
    mayWhileRevalidating: (entry) => isWithin(entry, entry.policy.whileRevalidateSeconds),
    mayOnError,
    noteError: (entry, sentAtMs) => void failedAtMs.set(entry, sentAtMs),
    mayAfterError: (entry) => isRecentValidation(failedAtMs.get(entry), nowMs()) && mayOnError(entry, undefined),
  };
}
