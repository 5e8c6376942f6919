import { idleMsMax } from "./pool.ts";

/** Failures one after the other, no success between, that eject a replica. As Envoy's `consecutive_gateway_failure`. */
const failuresInARowMax = 5;
/** Answers in a row that say `Connection: close`. One alone may only mean that this connection was used often enough. */
const farewellsInARowMax = 2;
/** As long as idle connections are kept: of a replica that was silent for longer there is none, and to connect may take long. */
const sureMs = idleMsMax;
/** The first pause of an ejected replica; each further one is twice as long. */
const pauseMinMs = 1_000;
const pauseMaxMs = 30_000;

/**
 * What one attempt says about the replica. Leaving: it answered, and lets go of the connection (RFC 9112, section 9.6), as one does that is
 * about to stop. Absent: nobody takes connections where it was, as was found before anything was sent. Neither: the caller left, or cut the
 * answer.
 */
export type Verdict = "good" | "bad" | "leaving" | "absent" | "neither";

/** How the replica stood when an attempt began. Others than the probe come to one that is ejected when there is nobody else to ask. */
export type Standing = "in-service" | "ejected" | "probed";

export interface ReplicaHealth {
  /** Out of the choice until a probe succeeds. */
  readonly isEjected: boolean;
  /** In service, and since its last success neither a failure nor a word of leaving. */
  readonly isWell: boolean;
  /** Well, and it answered within the last second. Of one that is not sure it is worth a look whether it is there. */
  readonly isSure: boolean;
  /** Ejected, its pause over, and nobody probing. A request that is not idempotent probes only when no other came for long. */
  isDue(isIdempotent: boolean): boolean;
  /** Ends the pause of an ejected replica. */
  endPause(): void;
  /** One attempt begins; what is returned must be given to `end`, once. */
  begin(): Standing;
  /** `cause` is told when the verdict is bad, for the log. */
  end(begun: Standing, verdict: Verdict, cause?: unknown): void;
}

export interface ReplicaHealthOptions {
  readonly nowMs: () => number;
  /** Asked at each failure from the fifth in a row on, and when the replica leaves or is absent. */
  mayEject(): boolean;
  onEjected(about: { readonly pauseMs: number; readonly cause: unknown }): void;
  /** It takes its leave, and is ejected without having failed. */
  onLeaving(about: { readonly pauseMs: number }): void;
  onBack(): void;
}

/**
 * Passive health of one replica: a circuit that opens by failures in a row, and closes by one request that succeeds (half-open). One that
 * takes its leave is left at once: by the time it closes its port and its idle connections nobody sends anything that could break.
 */
export function createReplicaHealth(o: ReplicaHealthOptions): ReplicaHealth {
  let failuresInARow = 0;
  let farewellsInARow = 0;
  let isEjected = false;
  let isProbing = false;
  let pauseMs = 0;
  let dueAtMs = 0;
  let backAtMs = Number.NEGATIVE_INFINITY;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let keepsConnections = false;

  function pause(): void {
    pauseMs = Math.min(pauseMaxMs, Math.max(pauseMinMs, pauseMs * 2));
    dueAtMs = o.nowMs() + pauseMs;
  }

  function eject(): void {
    isEjected = true;
    // One that flaps is out for longer each time.
    if (o.nowMs() - backAtMs > pauseMaxMs) pauseMs = 0;
    pause();
  }

  function comeBack(): void {
    isEjected = false;
    failuresInARow = 0;
    farewellsInARow = 0;
    backAtMs = o.nowMs();
    o.onBack();
  }

  /** What was under way when the replica was ejected is old news: only attempts begun since then count. */
  function judge(begun: Standing, verdict: Verdict, cause: unknown): void {
    if (isEjected === (begun === "in-service") || verdict === "neither") return;
    if (isEjected && verdict === "good") return comeBack();
    if (isEjected) return begun === "probed" ? pause() : undefined;
    const isAbsent = verdict === "absent";
    const isLeaving = farewellsInARow + (verdict === "leaving" || isAbsent ? 1 : 0) >= farewellsInARowMax;
    failuresInARow = verdict === "bad" || isAbsent ? failuresInARow + 1 : 0;
    farewellsInARow = verdict === "leaving" ? farewellsInARow + 1 : 0;
    const isOver = isLeaving || isAbsent || failuresInARow >= failuresInARowMax;
    if (!isOver || !o.mayEject()) return;
    eject();
    if (isLeaving) o.onLeaving({ pauseMs });
    else o.onEjected({ pauseMs, cause });
  }

  return {
    get isEjected() {
      return isEjected;
    },
    get isWell() {
      return !isEjected && failuresInARow === 0 && farewellsInARow === 0;
    },
    get isSure() {
      return this.isWell && o.nowMs() - answeredAtMs < sureMs;
    },
    isDue(isIdempotent) {
      const patienceMs = isIdempotent ? 0 : pauseMaxMs;
      return isEjected && !isProbing && o.nowMs() >= dueAtMs + patienceMs;
    },
    endPause: () => void (dueAtMs = Math.min(dueAtMs, o.nowMs())),
    begin() {
      if (!isEjected) return "in-service";
      if (isProbing || o.nowMs() < dueAtMs) return "ejected";
      isProbing = true;
      return "probed";
    },
    end(begun, verdict, cause) {
      if (begun === "probed") isProbing = false;
      keepsConnections ||= verdict === "good";
      // Of one that never kept a connection a farewell says nothing.
      const said = verdict === "leaving" && !keepsConnections ? "good" : verdict;
      if (said === "good") answeredAtMs = o.nowMs();
      judge(begun, said, cause);
    },
  };
}
