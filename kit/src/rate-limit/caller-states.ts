/** The state of each caller that has sent a request recently: its bucket in `local-limit.ts`, its lease in `leased-limit.ts`. */
export interface CallerStates<State> {
  /** Marks the state as used. @param atMs the time now, by the monotonic clock. */
  find(key: string, atMs: number): State | undefined;
  add(key: string, state: State): void;
}

export interface CallerStatesOptions {
  /** At times up to twice as many are stored. Beyond it, the states of callers without recent requests are dropped early. From 1. */
  readonly callersMax: number;
  /** A state is stored for at least this long after its last use, and at most twice as long while requests arrive. */
  readonly retentionMs: number;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/** Two maps, of the current and the previous generation: no map is ever searched for expired states, and dropping a generation costs nothing. */
export function createCallerStates<State>({
  callersMax,
  retentionMs,
  nowMs,
}: CallerStatesOptions): CallerStates<State> {
  let current = new Map<string, State>();
  let previous = new Map<string, State>();
  let currentSinceMs = nowMs();

  function rotateIfDue(atMs: number): void {
    const generationAgeMs = atMs - currentSinceMs;
    if (generationAgeMs < retentionMs && current.size < callersMax) return;
    // A generation that is twice `retentionMs` old was not used in its second half (a use would have ended it): its states have expired.
    previous = generationAgeMs < 2 * retentionMs ? current : new Map();
    current = new Map();
    currentSinceMs = atMs;
  }

  return {
    find(key, atMs) {
      rotateIfDue(atMs);
      const state = current.get(key);
      if (state !== undefined) return state;
      const previousState = previous.get(key);
      if (previousState !== undefined) current.set(key, previousState);
      return previousState;
    },
    add(key, state) {
      current.set(key, state);
    },
  };
}
