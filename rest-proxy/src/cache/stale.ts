import { type Entry, secondsLeft } from "./entry.ts";

/**
 * What may be done with an answer that is stale, the seconds counted from when it became so. Only what the origin allows in so many words: an origin
 * that cannot be reached is no leave by itself, though RFC 9111, 4.2.4 would have it so.
 */
export interface StaleRules {
  /** RFC 5861, 3. */
  mayWhileRevalidating(entry: Entry): boolean;
  /** RFC 5861, 4: the origin said 500, 502, 503 or 504, or nothing. */
  mayOnError(entry: Entry, status: number | undefined): boolean;
}

const errors: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Answers that the origin took back are not in the store any more, so none of this can bring them out again (RFC 9111, 4.4). */
export function createStaleRules(nowMs: () => number): StaleRules {
  const isWithin = (entry: Entry, seconds: number) => {
    const { neverStale, noCache } = entry.policy;
    return !neverStale && !noCache && -secondsLeft(entry, nowMs()) < seconds;
  };
  return {
    mayWhileRevalidating: (entry) => isWithin(entry, entry.policy.whileRevalidateSeconds ?? 0),
    mayOnError(entry, status) {
      if (status !== undefined && !errors.has(status)) return false;
      return isWithin(entry, entry.policy.ifErrorSeconds ?? 0);
    },
  };
}
