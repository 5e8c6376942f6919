export interface RateLimitOptions {
  /** Requests that a caller may send at once; as many come back, evenly, within each window. From 1. */
  readonly quota: number;
  readonly windowMs: number;
  /** Callers that are remembered surely; up to twice as many at times. Beyond, those that asked longest ago are forgotten early. */
  readonly callersMax: number;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

export interface RateVerdict {
  readonly isAdmitted: boolean;
  /** Requests that would be admitted at this moment. */
  readonly remaining: number;
  /** Until all of the quota is there again. */
  readonly resetMs: number;
  /** Until the next request is admitted; 0 when it would be now. */
  readonly retryMs: number;
}

export interface RateLimit {
  /** Counts one request; one that is refused counts for nothing, so that who waits as long as told is admitted. */
  take(caller: string): RateVerdict;
}

/**
 * A rate for each caller by the generic cell rate algorithm (ITU-T I.371, annex A: virtual scheduling): one number for each caller, the moment
 * at which its requests so far would be over had they come evenly. Whoever has not asked for a whole window has all of its quota again, so
 * two generations of a window each hold everybody who matters, and nobody has to be looked for to be forgotten.
 */
export function createRateLimit({ quota, windowMs, callersMax, nowMs }: RateLimitOptions): RateLimit {
  const stepMs = windowMs / quota;
  let young = new Map<string, number>();
  let old = new Map<string, number>();
  let bornMs = nowMs();

  function age(atMs: number): void {
    // A clock that was put back must not keep a generation for ever.
    const isOver = atMs - bornMs >= windowMs || atMs < bornMs;
    if (!isOver && young.size < callersMax) return;
    old = young;
    young = new Map();
    bornMs = atMs;
  }

  return {
    take(caller) {
      const atMs = nowMs();
      age(atMs);
      const known = young.get(caller) ?? old.get(caller) ?? atMs;
      // Never further than a window from now: a clock that was put back must not lock anybody out.
      const doneMs = Math.min(Math.max(known, atMs), atMs + windowMs);
      const nextMs = doneMs + stepMs;
      // Sums of fractions: what is over by less than a millionth is not over.
      const isAdmitted = nextMs - atMs <= windowMs + 1e-6 * windowMs;
      const thenMs = isAdmitted ? nextMs : doneMs;
      young.set(caller, thenMs);
      const resetMs = thenMs - atMs;
      const remaining = Math.max(Math.floor((windowMs - resetMs) / stepMs + 1e-6), 0);
      return { isAdmitted, remaining, resetMs, retryMs: remaining > 0 ? 0 : resetMs + stepMs - windowMs };
    },
  };
}
