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
export function createLocalLimit({ quota, windowMs, callersMax, nowMs }: LocalLimitOptions): ClassLimit {
  /** The time that a used quota takes to be replenished. */
  const fullCostMs = windowMs * (1 + tolerance);
  // A used quota is replenished in one window, and a debt of at most one quota in a second one.
  const buckets = createCallerStates<Bucket>({ callersMax, retentionMs: 2 * windowMs, nowMs });

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
      // Units are expressed by the time in which they are replenished.
      const stepMs = windowMs / quota();
      const usedMs = Math.max(bucket.fullAtMs - atMs, 0);
      const costMs = weight * stepMs;
      const isAdmitted = usedMs + costMs <= fullCostMs;
      const isTooExpensive = costMs > fullCostMs;
      const resetMs = isAdmitted ? usedMs + costMs : usedMs;
      bucket.fullAtMs = atMs + resetMs;
      const remaining = Math.max(Math.floor((windowMs - resetMs) / stepMs + tolerance), 0);
      // `retryMs` is about one more unit after an admission, and about the same charge after a rejection.
      const nextCostMs = isAdmitted ? stepMs : Math.min(costMs, windowMs);
      const isNextAdmitted = isAdmitted && remaining > 0;
      const retryMs = isNextAdmitted ? 0 : Math.max(resetMs + nextCostMs - windowMs, 0);
      return { isAdmitted, isTooExpensive, remaining, resetMs, retryMs };
    },
    debit(key, weight) {
      const atMs = nowMs();
      const bucket = bucketOf(key, atMs);
      const costMs = (weight * windowMs) / quota();
      const debitedAtMs = Math.max(bucket.fullAtMs, atMs) + costMs;
      // A caller owes at most one quota.
      bucket.fullAtMs = Math.min(debitedAtMs, atMs + 2 * windowMs);
    },
  };
}
