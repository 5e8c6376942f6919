/**
 * Passive health of one replica: no health check is sent. `suspect`: attempts have failed since the last success, too few for an ejection, or it may
 * not be ejected. `ejected`: gets no requests until a pause is over, unless no other replica is left. `probing`: one request tests the replica after
 * its pause.
 */
export type HealthState = "healthy" | "suspect" | "ejected" | "probing";

/**
 * - `failure`: no response, or a 502, 503 or 504. `timeout`: no response for about 500 ms or longer, which is stronger evidence.
 * - `slow`: a response that took much longer than those of other replicas (`replica-latency.ts`).
 * - `draining`: a response with `Connection: close` (RFC 9112, section 9.6), which a replica sends before it stops.
 * - `inconclusive`: the caller ended the request, or the response was too long.
 */
export type AttemptOutcome = "success" | "failure" | "timeout" | "slow" | "draining" | "inconclusive";

export type EjectionReason = "failing" | "slow" | "draining";

/** `last-resort`: the replica is ejected or probing, and no other one was left. */
export type AttemptRole = "regular" | "probe" | "last-resort";

export interface ReplicaHealth {
  readonly state: HealthState;
  readonly isInService: boolean;
  /** Why the replica is not healthy. Undefined while it is. */
  reason(): string | undefined;
  /** A request that is not idempotent probes 30 s later: it cannot be retried if the probe fails. */
  isProbeDue(isIdempotent: boolean): boolean;
  endPause(): void;
  /** The role must be passed to `endAttempt`, once. */
  startAttempt(): AttemptRole;
  endAttempt(role: AttemptRole, outcome: AttemptOutcome, cause?: unknown): void;
}

export interface Ejection {
  readonly reason: EjectionReason;
  readonly pauseMs: number;
  /** Of the last failure. Undefined for other reasons. */
  readonly cause: unknown;
}

export interface ReplicaHealthOptions {
  readonly nowMs: () => number;
  /** When the outcomes suffice for an ejection. False leaves the replica suspect. */
  mayEject(reason: EjectionReason): boolean;
  onEjected(ejection: Ejection): void;
  onRestored(): void;
}

/** `failure`: also a timeout or a draining response, and a slow one to a probe. `limit`: it reaches the limit for an ejection, and `mayEject` allows it. */
type HealthEvent = "success" | "failure" | "limit" | "probe" | "probe-failure" | "probe-inconclusive";

/** An event without an entry leaves the state as it is. */
export const transitions: Readonly<Record<HealthState, Readonly<Partial<Record<HealthEvent, HealthState>>>>> = {
  healthy: { failure: "suspect", limit: "ejected" },
  suspect: { success: "healthy", limit: "ejected" },
  ejected: { success: "healthy", probe: "probing" },
  probing: { success: "healthy", "probe-failure": "ejected", "probe-inconclusive": "ejected" },
};

/** Five failures: as Envoy's `consecutive_gateway_failure`. One `Connection: close` may only mean the end of this connection's requests. */
const ejectionLimits = { failure: 5, timeout: 2, slow: 10, draining: 2 } as const;
/** Failures and timeouts add up: each adds its share of these points. */
const pointsToEject = 10;
/** From the first slow response: one garbage collection delays all that are in flight. */
const slowMsMin = 1_000;
/** Each further pause is twice as long, up to the maximum. */
const pauseMinMs = 1_000;
const pauseMaxMs = 30_000;

type BadOutcome = "failure" | "timeout" | "slow" | "draining";

interface Pause {
  readonly ms: number;
  endsAtMs: number;
}

/** Since the last success, of one reason. */
interface Streak {
  readonly reason: EjectionReason;
  readonly points: number;
  readonly startedAtMs: number;
}

function extendStreak(streak: Streak | undefined, outcome: BadOutcome, nowMs: number): Streak {
  const reason = outcome === "slow" || outcome === "draining" ? outcome : "failing";
  const continued = streak?.reason === reason ? streak : { points: 0, startedAtMs: nowMs };
  return { ...continued, reason, points: continued.points + pointsToEject / ejectionLimits[outcome] };
}

function isLimitReached({ reason, points, startedAtMs }: Streak, nowMs: number): boolean {
  return points >= pointsToEject && (reason !== "slow" || nowMs - startedAtMs >= slowMsMin);
}

export function createReplicaHealth(o: ReplicaHealthOptions): ReplicaHealth {
  let state: HealthState = "healthy";
  let streak: Streak | undefined;
  let lastFailure: unknown;
  let pause: Pause = { ms: 0, endsAtMs: 0 };
  let restoredAtMs = Number.NEGATIVE_INFINITY;
  let keepsConnections = false;

  const isInService = () => state === "healthy" || state === "suspect";

  function handle(event: HealthEvent, cause?: unknown): void {
    const next = transitions[state][event];
    if (next === undefined) return;
    const wasInService = isInService();
    state = next;
    if (next === "ejected") enterEjected(event, cause);
    if (next !== "healthy" || wasInService) return;
    streak = undefined;
    restoredAtMs = o.nowMs();
    o.onRestored();
  }

  function enterEjected(event: HealthEvent, cause: unknown): void {
    if (event === "probe-inconclusive") return;
    // Soon after a restoration the doubling continues: the replica alternates between success and failure.
    const isFirst = event === "limit" && o.nowMs() - restoredAtMs > pauseMaxMs;
    const pauseMs = isFirst ? pauseMinMs : Math.min(pauseMaxMs, Math.max(pauseMinMs, pause.ms * 2));
    pause = { ms: pauseMs, endsAtMs: o.nowMs() + pauseMs };
    if (event === "limit" && streak) o.onEjected({ reason: streak.reason, pauseMs, cause });
  }

  function addToStreak(outcome: BadOutcome): HealthEvent {
    streak = extendStreak(streak, outcome, o.nowMs());
    if (isLimitReached(streak, o.nowMs()) && o.mayEject(streak.reason)) return "limit";
    // A single slow response is a success.
    return outcome === "slow" ? "success" : "failure";
  }

  function toEvent(role: AttemptRole, outcome: AttemptOutcome): HealthEvent | undefined {
    // The outcome of an attempt that started before the last ejection or restoration is ignored.
    if ((role === "regular") !== isInService()) return undefined;
    if (outcome === "success" && role === "regular") streak = undefined;
    if (outcome === "success") return "success";
    // The first responses of a restarted replica are slow.
    if (outcome === "slow" && role !== "regular" && streak?.reason !== "slow") return "success";
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
    reason: () => (state === "healthy" ? undefined : toReason(streak, lastFailure)),
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
      if (outcome === "success" || outcome === "slow") keepsConnections = true;
      // A server that closes the connection after every response is not draining.
      const alwaysCloses = outcome === "draining" && !keepsConnections;
      const event = toEvent(role, alwaysCloses ? "success" : outcome);
      if (event === "failure" || event === "limit" || event === "probe-failure") lastFailure = cause;
      if (event) handle(event, cause);
    },
  };
}

function toReason(streak: Streak | undefined, lastFailure: unknown): string {
  const cause = streak?.reason === "failing" ? lastFailure : streak?.reason;
  return cause instanceof Error ? cause.message : String(cause);
}
