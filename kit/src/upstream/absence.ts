import { createLookout } from "./lookout.ts";

/** The first pause of an ejected replica; each further one is twice as long. */
const pauseMinMs = 1_000;
const pauseMaxMs = 30_000;

export interface AbsenceOptions {
  readonly nowMs: () => number;
  /** Whether somebody takes connections there. Never rejects. */
  knock(): Promise<boolean>;
  /** It failed too often, or nobody is there. */
  onEjected(about: { readonly pauseMs: number; readonly cause: unknown }): void;
  /** It takes its leave, and is ejected without having failed. */
  onLeaving(about: { readonly pauseMs: number }): void;
  onBack(): void;
}

/** What comes of a replica from its ejection to its return: when it is asked again. Of one that was only doubted nothing is told. */
export interface Absence {
  /** Its pause over, and nobody looking. A request that is not idempotent waits for longer: another may come before. */
  isDue(isIdempotent: boolean): boolean;
  readonly isPauseOver: boolean;
  /** Somebody took a connection just now, or there is nobody else to ask. */
  readonly isThere: boolean;
  look(): void;
  /** Without a pause: the replica is only doubted. */
  begin(why: "failing" | "leaving"): void;
  /** The doubt is right: a pause begins, twice as long as the last. */
  pause(cause: unknown): void;
  /** The replica may be asked at once, without a look. */
  endPause(): void;
  /** It is back. */
  end(): void;
}

export function createAbsence(o: AbsenceOptions): Absence {
  const { nowMs } = o;
  const lookout = createLookout({ nowMs, knock: o.knock, onNobody });
  let isLeaving = false;
  let isTold = false;
  let pauseMs = 0;
  let dueAtMs = 0;
  let endedAtMs = Number.NEGATIVE_INFINITY;

  function onNobody(): void {
    // No client paid for the look: the pause does not grow.
    dueAtMs = nowMs() + pauseMinMs;
    tell(pauseMinMs, new Error("nobody takes connections there"));
  }

  function tell(nextPauseMs: number, cause: unknown): void {
    if (isTold) return;
    isTold = true;
    if (isLeaving) o.onLeaving({ pauseMs: nextPauseMs });
    else o.onEjected({ pauseMs: nextPauseMs, cause });
  }

  return {
    isDue(isIdempotent) {
      const patienceMs = isIdempotent ? 0 : pauseMaxMs;
      return !lookout.isLooking && nowMs() >= dueAtMs + patienceMs;
    },
    get isPauseOver() {
      return nowMs() >= dueAtMs;
    },
    get isThere() {
      return lookout.isThere;
    },
    look: lookout.look,
    begin(why) {
      isLeaving = why === "leaving";
      // One that flaps is out for longer each time.
      if (nowMs() - endedAtMs > pauseMaxMs) pauseMs = 0;
      dueAtMs = nowMs();
      lookout.forget();
    },
    pause(cause) {
      pauseMs = Math.min(pauseMaxMs, Math.max(pauseMinMs, pauseMs * 2));
      dueAtMs = nowMs() + pauseMs;
      lookout.forget();
      tell(pauseMs, cause);
    },
    endPause() {
      dueAtMs = Math.min(dueAtMs, nowMs());
      lookout.assume();
    },
    end() {
      endedAtMs = nowMs();
      if (isTold) o.onBack();
      isTold = false;
    },
  };
}
