import { createCallerStates } from "./caller-states.ts";
import type { ClassLimit, RateDecision } from "./rate-decision.ts";

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

  /** Units are expressed by the time in which they are replenished. */
  const stepOf = () => windowMs / quota();

  /** @returns false, and takes nothing, if the bucket has fewer units. */
  function take(bucket: Bucket, costMs: number, atMs: number): boolean {
    const usedMs = Math.max(bucket.fullAtMs - atMs, 0);
    const isAdmitted = usedMs + costMs <= fullCostMs;
    bucket.fullAtMs = atMs + (isAdmitted ? usedMs + costMs : usedMs);
    return isAdmitted;
  }

  /** Describes the bucket after `take`. */
  function createDecision(bucket: Bucket, costMs: number, isAdmitted: boolean, atMs: number): RateDecision {
    const stepMs = stepOf();
    const resetMs = bucket.fullAtMs - atMs;
    const remaining = Math.max(Math.floor((windowMs - resetMs) / stepMs + tolerance), 0);
    // `retryMs` is about one more unit after an admission, and about the same charge after a rejection.
    const nextCostMs = isAdmitted ? stepMs : Math.min(costMs, windowMs);
    const isNextAdmitted = isAdmitted && remaining > 0;
    const retryMs = isNextAdmitted ? 0 : Math.max(resetMs + nextCostMs - windowMs, 0);
    return { isAdmitted, isTooExpensive: costMs > fullCostMs, remaining, resetMs, retryMs };
  }

  return {
    charge(key, weight) {
      const atMs = nowMs();
      const bucket = bucketOf(key, atMs);
      const costMs = weight * stepOf();
      return createDecision(bucket, costMs, take(bucket, costMs, atMs), atMs);
    },
    admit(key, weight) {
      const atMs = nowMs();
      const bucket = bucketOf(key, atMs);
      const costMs = weight * stepOf();
      return take(bucket, costMs, atMs) ? undefined : createDecision(bucket, costMs, false, atMs);
    },
    debit(key, weight) {
      const atMs = nowMs();
      const bucket = bucketOf(key, atMs);
      const debitedAtMs = Math.max(bucket.fullAtMs, atMs) + weight * stepOf();
      // A caller owes at most one quota.
      bucket.fullAtMs = Math.min(debitedAtMs, atMs + 2 * windowMs);
    },
    refund(key, weight) {
      bucketOf(key, nowMs()).fullAtMs -= weight * stepOf();
    },
  };
}
