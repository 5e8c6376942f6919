export interface RetryBudgetLimits {
  /** Retries that each request adds, 0 to 1: 0.1 allows one retry for ten requests. */
  readonly perRequest: number;
  /** Retries that each second adds, so that little traffic may be retried too. */
  readonly perSecond: number;
  /** The most retries that can be saved; the budget starts with them. */
  readonly burstMax: number;
}

export interface RetryBudget {
  /** Called for each request. */
  deposit(): void;
  /** Takes one retry. False if none is left. */
  withdraw(): boolean;
}

/** The burst is half of the requests in flight: as many as a replica that dies may hold. */
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
  const add = (count: number) => void (tokens = Math.min(burstMax, tokens + count));

  return {
    deposit: () => add(perRequest),
    withdraw() {
      const now = nowMs();
      add(((now - filledAtMs) / 1_000) * perSecond);
      filledAtMs = now;
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}
