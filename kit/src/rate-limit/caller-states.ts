export interface CallerStates<State> {
  find(key: string, atMs: number): State | undefined;
  add(key: string, state: State): void;
}

export interface CallerStatesOptions {
  /** At times up to twice as many. Beyond it, the states of callers without recent requests are dropped early. */
  readonly callersMax: number;
  /** After its last use; at most twice as long while requests arrive. */
  readonly retentionMs: number;
  readonly nowMs: () => number;
}

/** Two generations: no map is ever searched for expired states, and dropping a generation costs nothing. */
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
    // A generation twice `retentionMs` old was not used in its second half, since a use would have ended it.
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
