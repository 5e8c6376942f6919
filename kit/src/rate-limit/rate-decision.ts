/** Counted separately, so that a polling page cannot block its user's writes. `requests`: before the gateway knows the class. */
export type RequestClass = "requests" | "reads" | "writes";

export interface RateDecision {
  readonly isAdmitted: boolean;
  /** As far as this process knows. */
  readonly remaining: number;
  /** Until the whole quota is available. */
  readonly resetMs: number;
  /** Until the same charge would be admitted after a rejection, or one more unit after an admission. */
  readonly retryMs: number;
}

export interface ClassLimit {
  /** Synchronous. A rejected charge costs nothing, so a caller that waits for `retryMs` is admitted. */
  charge(key: string, weight: number): RateDecision;
  /** Allocates nothing for an admitted charge. @returns the decision if the charge is rejected. */
  admit(key: string, weight: number): RateDecision | undefined;
  /** For work that is done. A caller owes at most one quota, and its charges are rejected while it owes units. */
  debit(key: string, weight: number): void;
  refund(key: string, weight: number): void;
}

const roundingErrorMs = 0.001;

/** Rounded up, but not for the rounding error of a difference of times: 20,000.000000002 ms are 20 s. */
export function toWholeSeconds(ms: number): number {
  return Math.max(Math.ceil((ms - roundingErrorMs) / 1_000), 0);
}

export function retryAfterSecondsOf({ retryMs }: RateDecision): number {
  return Math.max(toWholeSeconds(retryMs), 1);
}
