// The result of a charge, and the interface of what counts it: `local-limit.ts` and `leased-limit.ts`.

/**
 * Reads and writes are counted separately, so that a polling page cannot block its user's writes. `requests` is for the gateway, which knows the class
 * of a request only after it has parsed it: a unit for the arrival of each request, and the CPU time of its document.
 */
export type RequestClass = "requests" | "reads" | "writes";

export interface RateDecision {
  readonly isAdmitted: boolean;
  /** The weight is more than the whole quota, so no waiting helps. */
  readonly isTooExpensive: boolean;
  /** Units that would be admitted now, as far as this process knows. Infinity without a limit. */
  readonly remaining: number;
  /** Until the whole quota is available. */
  readonly resetMs: number;
  /**
   * After a rejection: until the same charge would be admitted, or until the whole quota is available if the charge is too expensive. After an
   * admission: until one more unit would be admitted, 0 if it would be now.
   */
  readonly retryMs: number;
}

/** The rate limit of one class of requests. */
export interface ClassLimit {
  /** As `RateLimits.charge`. */
  charge(key: string, weight: number): RateDecision;
  /** As `RateLimits.admit`. */
  admit(key: string, weight: number): RateDecision | undefined;
  /** Takes units for work that was done, and never rejects: see `RateLimits.debit`. */
  debit(key: string, weight: number): void;
  /** Returns units of an admitted charge. */
  refund(key: string, weight: number): void;
}

/** The value of `Retry-After` for a rejection: at least 1. */
export function retryAfterSecondsOf({ retryMs }: RateDecision): number {
  return Math.max(Math.ceil(retryMs / 1_000), 1);
}
