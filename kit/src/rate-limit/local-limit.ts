import { createCallerStates } from "./caller-states.ts";
import type { ClassLimit, RateDecision } from "./rate-decision.ts";

export interface LocalLimitOptions {
  /** From 1, replenished evenly within each window. The share of one process changes with the number of processes. */
  readonly quota: () => number;
  readonly windowMs: number;
  readonly callersMax: number;
  readonly nowMs: () => number;
}

interface Bucket {
  /** When the caller's whole quota is available again. */
  fullAtMs: number;
}

const tolerance = 1e-6;

/**
 * Generic cell rate algorithm (ITU-T I.371, annex A: virtual scheduling): the only number per caller is the time at which its whole quota is
 * available again, which each unit delays by `windowMs / quota`.
 */
export function createLocalLimit({ quota, windowMs, callersMax, nowMs }: LocalLimitOptions): ClassLimit {
  const fullCostMs = windowMs * (1 + tolerance);
  // A used quota is replenished in one window, a debt of at most one quota in a second one.
  const buckets = createCallerStates<Bucket>({ callersMax, retentionMs: 2 * windowMs, nowMs });

  function bucketOf(key: string, atMs: number): Bucket {
    const known = buckets.find(key, atMs);
    if (known !== undefined) return known;
    const bucket = { fullAtMs: atMs };
    buckets.add(key, bucket);
    return bucket;
  }

  const stepOf = () => windowMs / quota();

  /** @returns false, and takes nothing, if the bucket has fewer units. */
  function take(bucket: Bucket, costMs: number, atMs: number): boolean {
    const usedMs = Math.max(bucket.fullAtMs - atMs, 0);
    const isAdmitted = usedMs + costMs <= fullCostMs;
    bucket.fullAtMs = atMs + (isAdmitted ? usedMs + costMs : usedMs);
    return isAdmitted;
  }

  function createDecision(bucket: Bucket, costMs: number, isAdmitted: boolean, atMs: number): RateDecision {
    const stepMs = stepOf();
    const resetMs = bucket.fullAtMs - atMs;
    const remaining = Math.max(Math.floor((windowMs - resetMs) / stepMs + tolerance), 0);
    const nextCostMs = isAdmitted ? stepMs : Math.min(costMs, windowMs);
    const isNextAdmitted = isAdmitted && remaining > 0;
    const retryMs = isNextAdmitted ? 0 : Math.max(resetMs + nextCostMs - windowMs, 0);
    return { isAdmitted, remaining, resetMs, retryMs };
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
      bucket.fullAtMs = Math.min(debitedAtMs, atMs + 2 * windowMs);
    },
    refund(key, weight) {
      bucketOf(key, nowMs()).fullAtMs -= weight * stepOf();
    },
  };
}
