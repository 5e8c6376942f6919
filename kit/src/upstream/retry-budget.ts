export interface RetryBudgetLimits {
  /** Retries that each request adds, 0 to 1: 0.1 allows one retry for ten requests. */
  readonly perRequest: number;
  /** Retries that each second adds, for services with so few requests that `perRequest` adds almost none. */
  readonly perSecond: number;
  /** The most retries that the budget can hold. It starts with this number. */
  readonly burstMax: number;
}

export interface RetryBudget {
  /** Called once for each request, not for its retries. */
  deposit(): void;
  /** Removes one retry from the budget. False if less than one is left. */
  takeRetry(): boolean;
}

/**
 * @param requestsMax the most requests in flight. `burstMax` is half of it: if one of two replicas stops, that many requests fail at once, and
 * each can be retried.
 */
export function defaultRetryBudget(requestsMax: number): RetryBudgetLimits {
  return { perRequest: 0.1, perSecond: 5, burstMax: Math.max(1, requestsMax / 2) };
}

/**
 * A token bucket over all requests of an upstream: when many requests fail, retries add a share to the load instead of multiplying it
 * (the retry budgets of Finagle and linkerd2-proxy).
 */
export function createRetryBudget(
  { perRequest, perSecond, burstMax }: RetryBudgetLimits,
  nowMs: () => number,
): RetryBudget {
  let tokens = burstMax;
  let filledAtMs = nowMs();
  const add = (retries: number) => {
    tokens = Math.min(burstMax, tokens + retries);
  };

  return {
    deposit: () => add(perRequest),
    takeRetry() {
      const takenAtMs = nowMs();
      const elapsedSeconds = (takenAtMs - filledAtMs) / 1_000;
      add(elapsedSeconds * perSecond);
      filledAtMs = takenAtMs;
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}
