export interface RetryBudgetLimits {
  /** Retries that each request adds, 0 to 1: 0.1 lets one request in ten be sent once more. */
  readonly perRequest: number;
  /** Retries that each second adds, so that little traffic may be retried too. */
  readonly perSecond: number;
  /** Retries that can be saved up; it begins with them. */
  readonly burstMax: number;
}

export interface RetryBudget {
  /** A request has come. */
  deposit(): void;
  /** Whether one retry may be made; if so it is paid. */
  take(): boolean;
}

/**
 * A token bucket over all requests of an upstream: when much fails, retries add a share to the load instead of multiplying it
 * (the retry budgets of Finagle and linkerd2-proxy).
 */
export function createRetryBudget({ perRequest, perSecond, burstMax }: RetryBudgetLimits, nowMs: () => number) {
  let tokens = burstMax;
  let filledAtMs = nowMs();
  const add = (count: number) => void (tokens = Math.min(burstMax, tokens + count));

  const budget: RetryBudget = {
    deposit: () => add(perRequest),
    take() {
      const now = nowMs();
      add(((now - filledAtMs) / 1_000) * perSecond);
      filledAtMs = now;
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
  return budget;
}
