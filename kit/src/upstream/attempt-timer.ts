// The deadline of one attempt: ends an attempt that is late, so that `upstream.ts` can send the request to another replica.
import type { LatencyWindow } from "./latency-window.ts";
import type { Replica, ReplicaSet } from "./replica-set.ts";
import type { EndListener, RequestDeadline } from "./request-deadline.ts";

/**
 * The timeout of an attempt: this many times the 99th percentile of recent latencies. At least 500 ms, at most half of the remaining time. Latencies:
 * of idempotent attempts that did not fail, until the result is available: the head of a streamed response, the whole of a buffered one.
 */
const attemptTimeoutP99s = 4;
const attemptTimeoutMinMs = 500;

/** One request and its attempts so far. */
export interface AttemptedRequest<Connection> {
  readonly request: { readonly isIdempotent: boolean };
  /** Of the whole request. Its `listener` is the step in progress. */
  readonly deadline: RequestDeadline;
  readonly endsAtMs: number;
  /** The replica of each attempt, in their order; the last one is that of the attempt in progress. */
  readonly tried: readonly Replica<Connection>[];
}

export interface AttemptTimerOptions<Connection> {
  readonly latencies: LatencyWindow;
  readonly replicas: ReplicaSet<Connection>;
  /** Takes a retry from the budget, for a request that is late at `replica`. False if none is left. */
  takeRetry(replica: string): boolean;
}

/** The timers of the attempts of one upstream. */
export interface AttemptTimer<Connection> {
  /**
   * Starts the timer of the attempt that is about to be sent. The caller clears it when the attempt ends.
   * @param nowMs by the clock of `endsAtMs`.
   * @returns undefined if no other healthy replica is untried: then the attempt may last until the deadline of the request.
   */
  start(attempted: AttemptedRequest<Connection>, nowMs: number): NodeJS.Timeout | undefined;
}

export function createAttemptTimer<Connection>(o: AttemptTimerOptions<Connection>): AttemptTimer<Connection> {
  const { latencies, replicas, takeRetry } = o;

  /** After a pause of this process, the response may already be in the socket's buffer: Node reads it before it calls back `setImmediate`. */
  function onTimeout(attempted: AttemptedRequest<Connection>): void {
    setImmediate(endIfLate, attempted, attempted.deadline.listener);
  }

  /**
   * Ends the attempt as `refused` if it has no connection yet, since nothing was sent; else as `attempt-timeout` if it has no response, the request
   * is idempotent and the budget has a retry, which it takes. Otherwise the attempt continues until the deadline of the request.
   * @param listener of the attempt whose timer has ended; undefined if that attempt has ended too.
   */
  function endIfLate(attempted: AttemptedRequest<Connection>, listener: EndListener | undefined): void {
    const { request, deadline, tried } = attempted;
    const isInProgress = listener !== undefined && deadline.listener === listener;
    if (!isInProgress) return;
    if (!replicas.hasHealthyAlternative(tried)) return;
    switch (listener.phase) {
      case "connecting":
        listener.onEnd("refused", new Error("No connection within the attempt's deadline"));
        break;
      case "sent":
        if (!request.isIdempotent) return;
        if (!takeRetry(tried.at(-1)?.name ?? "")) return;
        listener.onEnd("attempt-timeout", new Error("No response within the attempt's deadline"));
        break;
      case "responding":
        break;
    }
  }

  return {
    start(attempted, nowMs) {
      if (!replicas.hasHealthyAlternative(attempted.tried)) return undefined;
      const usualTimeoutMs = Math.max(attemptTimeoutMinMs, attemptTimeoutP99s * latencies.p99Ms());
      // At least half of the remaining time is left for the next attempt.
      const timeoutMaxMs = (attempted.endsAtMs - nowMs) / 2;
      return setTimeout(onTimeout, Math.min(usualTimeoutMs, timeoutMaxMs), attempted);
    },
  };
}
