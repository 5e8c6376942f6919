import { createCallerStates } from "./caller-states.ts";
import type { ClassLimit } from "./rate-decision.ts";

export interface LocalLimitOptions {
  /**
   * Units that a caller may use at once, replenished evenly within each window. From 1. A function, called at each charge, since the share of one
   * process changes with the number of processes.
   */
  readonly quota: () => number;
  readonly windowMs: number;
  /** Beyond it, the states of callers without recent requests are dropped early. */
  readonly callersMax: number;
  /** Monotonic. */
  readonly nowMs: () => number;
}

interface Bucket {
  /** When the caller's whole quota is available again. */
  fullAtMs: number;
}

/** For rounding errors of the sums. */
const tolerance = 1e-6;

/**
 * Counts in this process by the generic cell rate algorithm (ITU-T I.371, annex A: virtual scheduling). It stores one number per caller: the time at
 * which its whole quota is available again. Each unit delays this time by `windowMs / quota`. Used by `rate-limits.ts` without a store, and by
 * `leased-limit.ts` while the store is unavailable.
 */
export function createLocalLimit(o: LocalLimitOptions): ClassLimit {
  const { windowMs, nowMs } = o;
  // A used quota is replenished in one window, and a debt of at most one quota in a second one.
  const buckets = createCallerStates<Bucket>({ ...o, retentionMs: 2 * windowMs });

  function bucketOf(key: string, atMs: number): Bucket {
    const known = buckets.find(key, atMs);
    if (known !== undefined) return known;
    const bucket = { fullAtMs: atMs };
    buckets.add(key, bucket);
    return bucket;
  }

  return {
    charge(key, weight) {
      const atMs = nowMs();
      const bucket = bucketOf(key, atMs);
      const stepMs = windowMs / o.quota();
      const usedMs = Math.max(bucket.fullAtMs - atMs, 0);
      const costMs = weight * stepMs;
      const isAdmitted = usedMs + costMs <= windowMs * (1 + tolerance);
      const resetMs = isAdmitted ? usedMs + costMs : usedMs;
      bucket.fullAtMs = atMs + resetMs;
      const remaining = Math.max(Math.floor((windowMs - resetMs) / stepMs + tolerance), 0);
      const isTooExpensive = costMs > windowMs * (1 + tolerance);
      const nextCostMs = isAdmitted ? stepMs : Math.min(costMs, windowMs);
      const retryMs = isAdmitted && remaining > 0 ? 0 : Math.max(resetMs + nextCostMs - windowMs, 0);
      return { isAdmitted, isTooExpensive, remaining, resetMs, retryMs };
    },
    debit(key, weight) {
      const atMs = nowMs();
      const bucket = bucketOf(key, atMs);
      const costMs = (weight * windowMs) / o.quota();
      bucket.fullAtMs = Math.min(Math.max(bucket.fullAtMs, atMs) + costMs, atMs + 2 * windowMs);
    },
  };
}
