/**
 * Passive health of one replica, from the outcomes of its attempts: no health check is sent.
 * - `healthy`: no attempt has failed since the last success, or since the start.
 * - `suspect`: attempts have failed since then, too few for an ejection, or it may not be ejected. It gets requests as before.
 * - `ejected`: gets no requests until a pause is over, unless no other replica is left.
 * - `probing`: the pause is over, and one request tests the replica.
 */
export type HealthState = "healthy" | "suspect" | "ejected" | "probing";

/**
 * - `failure`: no response, or a 502, 503 or 504. `timeout`: no response for about 500 ms or longer, which is stronger evidence.
 * - `draining`: a response with `Connection: close` (RFC 9112, section 9.6), which a replica sends before it stops.
 * - `inconclusive`: the caller ended the request, or the response was longer than the caller accepts.
 */
export type AttemptOutcome = "success" | "failure" | "timeout" | "draining" | "inconclusive";

/** Why an attempt was sent to the replica. `last-resort`: the replica is ejected or probing, and no other one was left. */
export type AttemptRole = "regular" | "probe" | "last-resort";

export interface ReplicaHealth {
  readonly state: HealthState;
  /** Healthy or suspect. */
  readonly isInService: boolean;
  /** Whether it is ejected and its pause is over. A request that is not idempotent probes 30 s later: it cannot be retried if the probe fails. */
  isProbeDue(isIdempotent: boolean): boolean;
  /** Ends the pause of an ejected replica now: the next idempotent request probes it. */
  endPause(): void;
  /** Returns why the attempt is sent, and makes a replica whose pause is over `probing`. The role must be passed to `endAttempt`, once. */
  startAttempt(): AttemptRole;
  /** @param cause of a failure, for the log. */
  endAttempt(role: AttemptRole, outcome: AttemptOutcome, cause?: unknown): void;
}

export interface ReplicaHealthOptions {
  readonly nowMs: () => number;
  /** Called when the outcomes suffice for an ejection. False leaves the replica suspect. */
  mayEject(): boolean;
  onEjected(ejection: { readonly pauseMs: number; readonly cause: unknown }): void;
  /** The replica was ejected because it is draining. */
  onDraining(ejection: { readonly pauseMs: number }): void;
  /** The replica is healthy again after an ejection. */
  onRestored(): void;
}

/**
 * - `failure`: also a timeout or a draining response. `limit`: such an outcome that reaches the limit for an ejection, if `mayEject` allows it.
 * - `probe`: a probe is sent. `probe-failure`, `probe-inconclusive`: it ended so.
 */
type HealthEvent = "success" | "failure" | "limit" | "probe" | "probe-failure" | "probe-inconclusive";

/** An event without an entry leaves the state as it is. */
export const transitions: Readonly<Record<HealthState, Readonly<Partial<Record<HealthEvent, HealthState>>>>> = {
  healthy: { failure: "suspect", limit: "ejected" },
  suspect: { success: "healthy", limit: "ejected" },
  ejected: { success: "healthy", probe: "probing" },
  probing: { success: "healthy", "probe-failure": "ejected", "probe-inconclusive": "ejected" },
};

/**
 * This many of one outcome, without a success between them, eject a replica. Five failures: as Envoy's `consecutive_gateway_failure`. Two draining
 * responses: a single `Connection: close` may only mean that this connection has served its number of requests.
 */
const ejectionLimits = { failure: 5, timeout: 2, draining: 2 } as const;
/** Failures and timeouts add up: each adds its share of these points. Ten, so that every share is a whole number. */
const pointsToEject = 10;
/** The first pause of an ejected replica. Each further one is twice as long, up to the maximum. */
const pauseMinMs = 1_000;
const pauseMaxMs = 30_000;

/** The outcomes since the last success: either draining responses, or failures and timeouts. */
interface Streak {
  readonly isDraining: boolean;
  readonly points: number;
}

/** An outcome of the other kind starts a new streak. */
function extendStreak(streak: Streak, outcome: "failure" | "timeout" | "draining"): Streak {
  const isDraining = outcome === "draining";
  const continuesStreak = streak.isDraining === isDraining;
  const pointsBefore = continuesStreak ? streak.points : 0;
  return { isDraining, points: pointsBefore + pointsToEject / ejectionLimits[outcome] };
}

export function createReplicaHealth(o: ReplicaHealthOptions): ReplicaHealth {
  let state: HealthState = "healthy";
  let streak: Streak = { isDraining: false, points: 0 };
  let pause = { ms: 0, endsAtMs: 0 };
  let restoredAtMs = Number.NEGATIVE_INFINITY;
  /** Whether a response without `Connection: close` has been received. */
  let keepsConnections = false;

  const isInService = () => state === "healthy" || state === "suspect";

  function handle(event: HealthEvent, cause?: unknown): void {
    const next = transitions[state][event];
    if (next === undefined) return;
    const wasInService = isInService();
    state = next;
    if (next === "ejected") enterEjected(event, cause);
    if (next !== "healthy") return;
    streak = { isDraining: false, points: 0 };
    if (wasInService) return;
    restoredAtMs = o.nowMs();
    o.onRestored();
  }

  function enterEjected(event: HealthEvent, cause: unknown): void {
    // The pause remains over, so the next attempt probes again.
    if (event === "probe-inconclusive") return;
    // An ejection within 30 s of a restoration continues the doubling: the replica alternates between success and failure.
    const isFirst = event === "limit" && o.nowMs() - restoredAtMs > pauseMaxMs;
    const doubledMs = Math.min(pauseMaxMs, Math.max(pauseMinMs, pause.ms * 2));
    const pauseMs = isFirst ? pauseMinMs : doubledMs;
    pause = { ms: pauseMs, endsAtMs: o.nowMs() + pauseMs };
    // After a failed probe the replica was ejected before: nothing new is reported.
    if (event !== "limit") return;
    if (streak.isDraining) o.onDraining({ pauseMs });
    else o.onEjected({ pauseMs, cause });
  }

  /** Adds the outcome of a regular attempt to the streak. */
  function addToStreak(outcome: "failure" | "timeout" | "draining"): HealthEvent {
    streak = extendStreak(streak, outcome);
    if (streak.points < pointsToEject) return "failure";
    return o.mayEject() ? "limit" : "failure";
  }

  /** Undefined for an outcome that leaves the state as it is. */
  function toEvent(role: AttemptRole, outcome: AttemptOutcome): HealthEvent | undefined {
    // An attempt that started before the last ejection or restoration is out of date: its outcome is ignored.
    const wasInService = role === "regular";
    if (wasInService !== isInService()) return undefined;
    if (outcome === "success") return "success";
    if (role === "probe") return outcome === "inconclusive" ? "probe-inconclusive" : "probe-failure";
    if (role === "last-resort" || outcome === "inconclusive") return undefined;
    return addToStreak(outcome);
  }

  return {
    get state() {
      return state;
    },
    get isInService() {
      return isInService();
    },
    isProbeDue(isIdempotent) {
      const probeDueAtMs = isIdempotent ? pause.endsAtMs : pause.endsAtMs + pauseMaxMs;
      return state === "ejected" && o.nowMs() >= probeDueAtMs;
    },
    endPause() {
      pause.endsAtMs = Math.min(pause.endsAtMs, o.nowMs());
    },
    startAttempt() {
      if (isInService()) return "regular";
      if (state === "probing" || o.nowMs() < pause.endsAtMs) return "last-resort";
      handle("probe");
      return "probe";
    },
    endAttempt(role, outcome, cause) {
      if (outcome === "success") keepsConnections = true;
      // A server that closes the connection after every response is not draining.
      const alwaysCloses = outcome === "draining" && !keepsConnections;
      const event = toEvent(role, alwaysCloses ? "success" : outcome);
      if (event) handle(event, cause);
    },
  };
}
