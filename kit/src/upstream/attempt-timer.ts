// Ends an attempt that is late, so that the request can be sent to another replica.
import type { Replica, ReplicaSet } from "./replica-set.ts";
import type { EndListener, RequestDeadline } from "./request-deadline.ts";

/** Times the 99th percentile of the latest reads of the fastest replica; at most half of the remaining time. */
const attemptTimeoutP99s = 4;
const attemptTimeoutMinMs = 500;

export interface AttemptedRequest<Connection> {
  readonly request: { readonly isIdempotent: boolean };
  readonly deadline: RequestDeadline;
  readonly endsAtMs: number;
  readonly tried: readonly Replica<Connection>[];
}

export interface AttemptTimerOptions<Connection> {
  readonly replicas: ReplicaSet<Connection>;
  takeRetry(replica: string): boolean;
}

export interface AttemptTimer<Connection> {
  /** The caller clears the timer. Undefined if no other healthy replica is untried. @param nowMs by the clock of `endsAtMs`. */
  start(attempted: AttemptedRequest<Connection>, nowMs: number): NodeJS.Timeout | undefined;
}

export function createAttemptTimer<Connection>(o: AttemptTimerOptions<Connection>): AttemptTimer<Connection> {
  const { replicas, takeRetry } = o;

  /** After a pause of this process, Node reads a response in the socket's buffer before it calls back `setImmediate`. */
  function onTimeout(attempted: AttemptedRequest<Connection>): void {
    setImmediate(endIfLate, attempted, attempted.deadline.listener);
  }

  /**
   * Without a connection nothing was sent: `refused`. Without a response, an idempotent request ends as `attempt-timeout` if the budget has a retry.
   * Otherwise the attempt continues until the deadline of the request.
   * @param listener undefined if that attempt has ended.
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
      const usualTimeoutMs = Math.max(attemptTimeoutMinMs, attemptTimeoutP99s * replicas.bestP99Ms(nowMs));
      const timeoutMaxMs = Math.max(0, attempted.endsAtMs - nowMs) / 2;
      return setTimeout(onTimeout, Math.min(usualTimeoutMs, timeoutMaxMs), attempted);
    },
  };
}
