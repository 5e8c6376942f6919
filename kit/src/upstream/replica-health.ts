import { type AbsenceOptions, createAbsence } from "./absence.ts";

/** Failures one after the other, no success between, that eject a replica. As Envoy's `consecutive_gateway_failure`. */
const failuresInARowMax = 5;

/**
 * What one attempt says about the replica. Leaving: it answered, and lets go of the connection (RFC 9112, section 9.6), as one does that is
 * about to stop. Refused: there was no connection. Neither: the caller left, or cut the answer.
 */
export type Verdict = "good" | "bad" | "refused" | "leaving" | "neither";

/** How the replica stood when an attempt began. Others than the probe come to one that is ejected when there is nobody else to ask. */
export type Standing = "in-service" | "ejected" | "probed";

export interface ReplicaHealth {
  /** Out of the choice until a probe succeeds. */
  readonly isEjected: boolean;
  /** In service, and since its last success neither a failure nor a word of leaving. */
  readonly isWell: boolean;
  /** Ejected, its pause over, and nobody probing or looking. A request that is not idempotent probes only when no other came for long. */
  isDue(isIdempotent: boolean): boolean;
  /** Somebody took a connection just now: the next request may probe. */
  readonly isThere: boolean;
  /** Finds that out, aside, unless somebody does. */
  look(): void;
  /** Ends the pause of an ejected replica, which is probed without a look: nobody else is left. */
  endPause(): void;
  /** One attempt begins; what is returned must be given to `end`, once. */
  begin(): Standing;
  /** `cause` is told when the verdict is bad or refused, for the log. */
  end(begun: Standing, verdict: Verdict, cause?: unknown): void;
}

export interface ReplicaHealthOptions extends AbsenceOptions {
  /** Asked at each failure from the fifth in a row on, and when the replica refuses or leaves. */
  mayEject(): boolean;
  /** `isEjected` is another now. */
  onChanged(): void;
}

/**
 * Passive health of one replica: a circuit that opens by failures in a row, and closes by one request that succeeds (half-open), which is sent
 * there once a connection was taken: at an address that nobody has any more it would wait in vain, as long as connecting may take.
 *
 * One that refuses or takes its leave is doubted, without a pause: it gets the next request after a look, and is back or left out by how that
 * ends. So one that stops is left before it closes its port and its idle connections, and nobody sends anything that could break; and one that
 * only thinks that a connection was used often enough is back within milliseconds.
 */
export function createReplicaHealth(o: ReplicaHealthOptions): ReplicaHealth {
  const absence = createAbsence(o);
  let failuresInARow = 0;
  let isLeaving = false;
  let isEjected = false;
  let isProbing = false;

  function comeBack(): void {
    isEjected = false;
    failuresInARow = 0;
    isLeaving = false;
    o.onChanged();
    absence.end();
  }

  /** What was under way when the replica was ejected is old news: only attempts begun since then count. */
  function judge(begun: Standing, verdict: Verdict, cause: unknown): void {
    if (isEjected === (begun === "in-service") || verdict === "neither") return;
    if (isEjected && verdict === "good") return comeBack();
    if (isEjected) return begun === "probed" ? absence.pause(cause) : undefined;
    failuresInARow = verdict === "bad" || verdict === "refused" ? failuresInARow + 1 : 0;
    isLeaving = verdict === "leaving";
    const isFailing = failuresInARow >= failuresInARowMax;
    if (!(isFailing || isLeaving || verdict === "refused") || !o.mayEject()) return;
    isEjected = true;
    absence.begin(isLeaving ? "leaving" : "failing");
    o.onChanged();
    if (isFailing) absence.pause(cause);
  }

  return {
    get isEjected() {
      return isEjected;
    },
    get isWell() {
      return !isEjected && failuresInARow === 0 && !isLeaving;
    },
    isDue: (isIdempotent) => isEjected && !isProbing && absence.isDue(isIdempotent),
    get isThere() {
      return absence.isThere;
    },
    look: absence.look,
    endPause: absence.endPause,
    begin() {
      if (!isEjected) return "in-service";
      if (isProbing || !absence.isPauseOver) return "ejected";
      isProbing = true;
      return "probed";
    },
    end(begun, verdict, cause) {
      if (begun === "probed") isProbing = false;
      judge(begun, verdict, cause);
    },
  };
}
