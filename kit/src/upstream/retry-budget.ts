export interface RetryBudgetLimits {
  readonly perRequest: number;
  /** For services with so few requests that `perRequest` adds almost none. */
  readonly perSecond: number;
  readonly burstMax: number;
}

export interface RetryBudget {
  deposit(): void;
  takeRetry(): boolean;
}

/** `burstMax`: if one of two replicas stops, half of the requests in flight fail at once, and each can be retried. */
export function defaultRetryBudget(requestsMax: number): RetryBudgetLimits {
  return { perRequest: 0.1, perSecond: 5, burstMax: Math.max(1, requestsMax / 2) };
}

/** A token bucket over all requests of an upstream: retries add a share to the load instead of multiplying it (as in Finagle and linkerd2-proxy). */
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
