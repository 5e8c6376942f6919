/**
 * Passive health of one replica, from the outcomes of its attempts.
 * - `healthy`: its last attempt succeeded, or there was none yet.
 * - `suspect`: its last attempts failed, too few to eject it. It stays in the choice.
 * - `ejected`: out of the choice until a pause is over.
 * - `probing`: the pause is over, and one attempt tests the replica.
 */
export type HealthState = "healthy" | "suspect" | "ejected" | "probing";

/**
 * - `timeout`: no response for about 500 ms or longer. Stronger evidence than `failure`.
 * - `draining`: a response with `Connection: close` (RFC 9112, section 9.6), which a replica sends before it stops.
 * - `inconclusive`: the caller disconnected or cut the response.
 */
export type AttemptOutcome = "success" | "failure" | "timeout" | "draining" | "inconclusive";

/** Why an attempt was sent to the replica. `last-resort`: it is ejected, and no other replica was left. */
export type AttemptRole = "regular" | "probe" | "last-resort";

export interface ReplicaHealth {
  readonly state: HealthState;
  /** Healthy or suspect. */
  readonly isInService: boolean;
  /** Ejected, and its pause is over. A request that is not idempotent probes only after 30 s in which no other did. */
  isProbeDue(isIdempotent: boolean): boolean;
  endPause(): void;
  /** Starts an attempt. The result must be passed to `endAttempt`, once. */
  startAttempt(): AttemptRole;
  /** @param cause of a failure, for the log. */
  endAttempt(role: AttemptRole, outcome: AttemptOutcome, cause?: unknown): void;
}

export interface ReplicaHealthOptions {
  readonly nowMs: () => number;
  /** Called before each ejection. */
  mayEject(): boolean;
  onEjected(ejection: { readonly pauseMs: number; readonly cause: unknown }): void;
  /** The replica was ejected because it is draining. */
  onDraining(ejection: { readonly pauseMs: number }): void;
  onRestored(): void;
}

/** `limit`: the outcomes since the last success suffice for an ejection, and `mayEject` allows it. */
type HealthEvent = "success" | "failure" | "limit" | "probe" | "probe-failure" | "probe-inconclusive";

/** An event without an entry leaves the state as it is. */
export const transitions: Readonly<Record<HealthState, Readonly<Partial<Record<HealthEvent, HealthState>>>>> = {
  healthy: { failure: "suspect", limit: "ejected" },
  suspect: { success: "healthy", limit: "ejected" },
  ejected: { success: "healthy", probe: "probing" },
  probing: { success: "healthy", "probe-failure": "ejected", "probe-inconclusive": "ejected" },
};

/**
 * Points of outcomes in a row: five failures (as Envoy's `consecutive_gateway_failure`), two timeouts or two draining responses eject a replica.
 * One `Connection: close` alone may only mean that this connection has served its number of requests.
 */
const points = { failure: 2, timeout: 5, draining: 5 } as const;
const pointsToEject = 10;
/** The first pause of an ejected replica; each further one is twice as long. */
const pauseMinMs = 1_000;
const pauseMaxMs = 30_000;

export function createReplicaHealth(o: ReplicaHealthOptions): ReplicaHealth {
  let state: HealthState = "healthy";
  /** Outcomes in a row. Failures and draining responses are not added up. */
  let streak = { isDraining: false, points: 0 };
  let pause = { ms: 0, endsAtMs: 0 };
  let restoredAtMs = Number.NEGATIVE_INFINITY;
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
    // The next attempt probes again: the pause stays over.
    if (event === "probe-inconclusive") return;
    // A replica that alternates between success and failure is ejected for longer each time.
    const isFirst = event === "limit" && o.nowMs() - restoredAtMs > pauseMaxMs;
    const ms = isFirst ? pauseMinMs : Math.min(pauseMaxMs, Math.max(pauseMinMs, pause.ms * 2));
    pause = { ms, endsAtMs: o.nowMs() + ms };
    if (event !== "limit") return;
    if (streak.isDraining) o.onDraining({ pauseMs: ms });
    else o.onEjected({ pauseMs: ms, cause });
  }

  function countRegular(outcome: "failure" | "timeout" | "draining"): HealthEvent {
    const isDraining = outcome === "draining";
    const before = streak.isDraining === isDraining ? streak.points : 0;
    streak = { isDraining, points: before + points[outcome] };
    return streak.points >= pointsToEject && o.mayEject() ? "limit" : "failure";
  }

  function toEvent(role: AttemptRole, outcome: AttemptOutcome): HealthEvent | undefined {
    // Attempts that started before the last ejection or restoration are out of date.
    if ((role === "regular") !== isInService()) return undefined;
    if (outcome === "success") return "success";
    if (role === "probe") return outcome === "inconclusive" ? "probe-inconclusive" : "probe-failure";
    return role === "last-resort" || outcome === "inconclusive" ? undefined : countRegular(outcome);
  }

  return {
    get state() {
      return state;
    },
    get isInService() {
      return isInService();
    },
    isProbeDue(isIdempotent) {
      return state === "ejected" && o.nowMs() >= pause.endsAtMs + (isIdempotent ? 0 : pauseMaxMs);
    },
    endPause: () => void (pause = { ...pause, endsAtMs: Math.min(pause.endsAtMs, o.nowMs()) }),
    startAttempt() {
      if (isInService()) return "regular";
      if (state === "probing" || o.nowMs() < pause.endsAtMs) return "last-resort";
      handle("probe");
      return "probe";
    },
    endAttempt(role, outcome, cause) {
      keepsConnections ||= outcome === "success";
      // A replica that never keeps a connection open is not draining.
      const known = outcome === "draining" && !keepsConnections ? "success" : outcome;
      const event = toEvent(role, known);
      if (event) handle(event, cause);
    },
  };
}
