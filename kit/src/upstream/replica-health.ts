/** Failures one after the other, no success between, that eject a replica. As Envoy's `consecutive_gateway_failure`. */
const failuresInARowMax = 5;
/** Answers in a row that say `Connection: close`. One alone may only mean that this connection was used often enough. */
const farewellsInARowMax = 2;
/** The first pause of an ejected replica; each further one is twice as long. */
const pauseMinMs = 1_000;
const pauseMaxMs = 30_000;

/**
 * What one attempt says about the replica. Leaving: it answered, and lets go of the connection (RFC 9112, section 9.6), as one does that is
 * about to stop. Neither: the caller left, or cut the answer.
 */
export type Verdict = "good" | "bad" | "leaving" | "neither";

/** How the replica stood when an attempt began. Others than the probe come to one that is ejected when there is nobody else to ask. */
export type Standing = "in-service" | "ejected" | "probed";

export interface ReplicaHealth {
  /** Out of the choice until a probe succeeds. */
  readonly isEjected: boolean;
  /** In service, and since its last success neither a failure nor a word of leaving. */
  readonly isWell: boolean;
  /** Ejected, its pause over, and nobody probing or knocking. A request that is not idempotent probes only when no other came for long. */
  isDue(isIdempotent: boolean): boolean;
  /** Somebody has taken a connection since the pause ended: the next request may probe. */
  readonly isThere: boolean;
  /** Finds that out, aside, unless somebody does. */
  look(): void;
  /** Ends the pause of an ejected replica, which is probed without knocking: nobody else is left. */
  endPause(): void;
  /** One attempt begins; what is returned must be given to `end`, once. */
  begin(): Standing;
  /** `cause` is told when the verdict is bad, for the log. */
  end(begun: Standing, verdict: Verdict, cause?: unknown): void;
}

export interface ReplicaHealthOptions {
  readonly nowMs: () => number;
  /** Whether somebody takes connections there. Never rejects. */
  knock(): Promise<boolean>;
  /** Asked at each failure from the fifth in a row on, and when the replica leaves. */
  mayEject(): boolean;
  onEjected(about: { readonly pauseMs: number; readonly cause: unknown }): void;
  /** It takes its leave, and is ejected without having failed. */
  onLeaving(about: { readonly pauseMs: number }): void;
  onBack(): void;
}

/**
 * Passive health of one replica: a circuit that opens by failures in a row, and closes by one request that succeeds (half-open), which is sent
 * there once a connection was taken: at an address that nobody has any more it would wait in vain, as long as connecting may take. One that
 * takes its leave is left at once: by the time it closes its port and its idle connections nobody sends anything that could break.
 */
export function createReplicaHealth(o: ReplicaHealthOptions): ReplicaHealth {
  const { nowMs } = o;
  const pause = createPause(nowMs);
  // No client pays for a look: the pause does not grow.
  const lookout = createLookout(o.knock, pause.again);
  let failuresInARow = 0;
  let farewellsInARow = 0;
  let isEjected = false;
  let isProbing = false;
  let backAtMs = Number.NEGATIVE_INFINITY;

  function leaveOut(): void {
    pause.begin();
    lookout.forget();
  }

  function eject(): void {
    isEjected = true;
    // One that flaps is out for longer each time.
    if (nowMs() - backAtMs > pauseMaxMs) pause.forget();
    leaveOut();
  }

  function comeBack(): void {
    isEjected = false;
    failuresInARow = 0;
    farewellsInARow = 0;
    backAtMs = nowMs();
    o.onBack();
  }

  /** What was under way when the replica was ejected is old news: only attempts begun since then count. */
  function judge(begun: Standing, verdict: Verdict, cause: unknown): void {
    if (isEjected === (begun === "in-service") || verdict === "neither") return;
    if (isEjected && verdict === "good") return comeBack();
    if (isEjected) return begun === "probed" ? leaveOut() : undefined;
    failuresInARow = verdict === "bad" ? failuresInARow + 1 : 0;
    farewellsInARow = verdict === "leaving" ? farewellsInARow + 1 : 0;
    const isLeaving = farewellsInARow >= farewellsInARowMax;
    if (!isLeaving && failuresInARow < failuresInARowMax) return;
    if (!o.mayEject()) return;
    eject();
    if (isLeaving) o.onLeaving({ pauseMs: pause.lengthMs });
    else o.onEjected({ pauseMs: pause.lengthMs, cause });
  }

  return {
    get isEjected() {
      return isEjected;
    },
    get isWell() {
      return !isEjected && failuresInARow === 0 && farewellsInARow === 0;
    },
    isDue(isIdempotent) {
      const patienceMs = isIdempotent ? 0 : pauseMaxMs;
      return isEjected && !isProbing && !lookout.isLooking && pause.isOver(patienceMs);
    },
    get isThere() {
      return lookout.isThere;
    },
    look: lookout.look,
    endPause() {
      pause.end();
      lookout.assume();
    },
    begin() {
      if (!isEjected) return "in-service";
      if (isProbing || !pause.isOver()) return "ejected";
      isProbing = true;
      return "probed";
    },
    end(begun, verdict, cause) {
      if (begun === "probed") isProbing = false;
      judge(begun, verdict, cause);
    },
  };
}

/** For how long a replica is left out, in milliseconds: twice as long each time. */
function createPause(nowMs: () => number) {
  let lengthMs = 0;
  let endsAtMs = 0;
  return {
    get lengthMs() {
      return lengthMs;
    },
    isOver: (forMs = 0) => nowMs() >= endsAtMs + forMs,
    begin() {
      lengthMs = Math.min(pauseMaxMs, Math.max(pauseMinMs, lengthMs * 2));
      endsAtMs = nowMs() + lengthMs;
    },
    /** The shortest, without growing. */
    again: () => void (endsAtMs = nowMs() + pauseMinMs),
    end: () => void (endsAtMs = Math.min(endsAtMs, nowMs())),
    /** The next one is the first again. */
    forget: () => void (lengthMs = 0),
  };
}

/** What is known of whether somebody takes connections. */
function createLookout(knock: () => Promise<boolean>, onNobody: () => void) {
  let isThere = false;
  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    isThere = await knock();
    isLooking = false;
    if (!isThere) onNobody();
  }

  return {
    get isThere() {
      return isThere;
    },
    get isLooking() {
      return isLooking;
    },
    look: () => void (isLooking || look()),
    assume: () => void (isThere = true),
    forget: () => void (isThere = false),
  };
}
