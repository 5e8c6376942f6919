/** Rate limits by the generic cell rate algorithm. `admission.ts` decides what is counted, and `config.ts` has the limits. */

export interface RateLimitOptions {
  /** Requests that a client may send at once; they are replenished evenly within each window. From 1. */
  readonly quota: number;
  readonly windowMs: number;
  /** Clients that are counted; at times up to twice as many. Beyond it, clients without recent requests are dropped early. */
  readonly clientsMax: number;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

export interface RateDecision {
  readonly isAdmitted: boolean;
  /** Requests that would be admitted now. */
  readonly remaining: number;
  /** Until the whole quota is available. */
  readonly resetMs: number;
  /** Until the next request is admitted; 0 if it would be now. */
  readonly retryMs: number;
}

export interface RateLimit {
  /** Counts one request. A rejected request costs nothing, so a client that waits for `retryMs` is admitted. */
  count(client: string): RateDecision;
}

/**
 * A rate per client by the generic cell rate algorithm (ITU-T I.371, annex A: virtual scheduling). It stores one number per client: the time at which
 * its whole quota is available again. Each admitted request moves it by `windowMs / quota`. A client without a request for a whole window has its
 * whole quota, so its number is not needed: two maps, of the current and the previous window, contain all that are, and none has to be searched for
 * expired ones.
 */
export function createRateLimit({ quota, windowMs, clientsMax, nowMs }: RateLimitOptions): RateLimit {
  const stepMs = windowMs / quota;
  let current = new Map<string, number>();
  let previous = new Map<string, number>();
  let currentSinceMs = nowMs();

  function rotate(atMs: number): void {
    // A window also ends early if its map is full, and if the clock was set back: otherwise it would last until the clock reaches the old time.
    const isOver = atMs - currentSinceMs >= windowMs || atMs < currentSinceMs;
    if (!isOver && current.size < clientsMax) return;
    previous = current;
    current = new Map();
    currentSinceMs = atMs;
  }

  return {
    count(client) {
      const atMs = nowMs();
      rotate(atMs);
      const storedMs = current.get(client) ?? previous.get(client) ?? atMs;
      // At most a window from now: otherwise a clock that was set back would block the client.
      const endMs = Math.min(Math.max(storedMs, atMs), atMs + windowMs);
      const nextEndMs = endMs + stepMs;
      // The tolerance is for rounding errors of the sum.
      const isAdmitted = nextEndMs - atMs <= windowMs + 1e-6 * windowMs;
      const newEndMs = isAdmitted ? nextEndMs : endMs;
      current.set(client, newEndMs);
      const resetMs = newEndMs - atMs;
      const remaining = Math.max(Math.floor((windowMs - resetMs) / stepMs + 1e-6), 0);
      return { isAdmitted, remaining, resetMs, retryMs: remaining > 0 ? 0 : resetMs + stepMs - windowMs };
    },
  };
}
