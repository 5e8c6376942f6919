/** For so long a look is good: after that it is looked again before a request is sent. */
const lookMs = 250;
/** Found by every look for so long, the replica counts as there: where few requests come, the next one always finds an old look. */
const steadyMs = 5_000;

export interface LookoutOptions {
  readonly nowMs: () => number;
  /** Whether somebody takes connections there. Never rejects. */
  knock(): Promise<boolean>;
  onNobody(): void;
}

/** What is known of whether somebody takes connections. */
export interface Lookout {
  /** Somebody did just now. */
  readonly isThere: boolean;
  readonly isLooking: boolean;
  /** Finds out, aside, unless that is under way. */
  look(): void;
  /** As if somebody had been found, until `forget`. */
  assume(): void;
  forget(): void;
}

export function createLookout({ nowMs, knock, onNobody }: LookoutOptions): Lookout {
  let isLooking = false;
  let isAssumed = false;
  let foundAtMs = Number.NEGATIVE_INFINITY;
  let foundSinceMs = Number.POSITIVE_INFINITY;

  function forget(): void {
    isAssumed = false;
    foundAtMs = Number.NEGATIVE_INFINITY;
    foundSinceMs = Number.POSITIVE_INFINITY;
  }

  async function look(): Promise<void> {
    isLooking = true;
    const isFound = await knock();
    isLooking = false;
    if (isFound) {
      foundAtMs = nowMs();
      foundSinceMs = Math.min(foundSinceMs, foundAtMs);
    } else {
      forget();
      onNobody();
    }
  }

  return {
    get isThere() {
      return isAssumed || nowMs() - foundAtMs < lookMs || foundAtMs - foundSinceMs >= steadyMs;
    },
    get isLooking() {
      return isLooking;
    },
    look: () => void (isLooking || look()),
    assume: () => void (isAssumed = true),
    forget,
  };
}
