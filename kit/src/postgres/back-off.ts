export interface BackOffOptions {
  /** After the first failure; twice as long after each further one. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** How long to leave somebody in peace who has refused. Half of each wait is chance, so that many processes do not come back as one. */
export interface BackOff {
  failed(): void;
  succeeded(): void;
  /** Whether the last try failed. */
  isFailing(): boolean;
  /** Until the next try may begin; 0 when it may now. */
  remainingMs(): number;
}

export function createBackOff({ firstMs, maxMs, nowMs, random }: BackOffOptions): BackOff {
  let failures = 0;
  let notBeforeMs = -Infinity;
  return {
    failed() {
      const wholeMs = Math.min(maxMs, firstMs * 2 ** failures);
      failures++;
      notBeforeMs = nowMs() + wholeMs * (0.5 + random() / 2);
    },
    succeeded() {
      failures = 0;
      notBeforeMs = -Infinity;
    },
    isFailing: () => failures > 0,
    remainingMs: () => Math.max(0, notBeforeMs - nowMs()),
  };
}
