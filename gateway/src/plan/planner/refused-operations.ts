// Stage 3 of 5: how to answer? Operations that could not be planned, so that they are not tried again and again.
import { createHash } from "node:crypto";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";

export interface RefusedOperations {
  add(operationText: string): void;
  has(operationText: string): boolean;
}

/** They are kept as hashes: an operation that cannot be planned tends to be long. */
export function createRefusedOperations(o: {
  readonly entriesMax: number;
  /**
   * How long the first time; each further time is twice as long. Planning is timed by the clock, so an operation may only have met a machine
   * that was busy, as it is with a gateway that has just been started.
   */
  readonly ttlMsMin: number;
  readonly ttlMsMax: number;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
}): RefusedOperations {
  const refusals = createBoundedMap<{ readonly ttlMs: number; readonly untilMs: number }>({ entriesMax: o.entriesMax });
  return {
    add(operationText) {
      const hash = hashOperation(operationText);
      const before = refusals.get(hash);
      const ttlMs = before ? Math.min(2 * before.ttlMs, o.ttlMsMax) : o.ttlMsMin;
      refusals.set(hash, { ttlMs, untilMs: o.clock() + ttlMs });
    },
    has(operationText) {
      if (refusals.size().entries === 0) return false;
      return (refusals.get(hashOperation(operationText))?.untilMs ?? -Infinity) > o.clock();
    },
  };
}

export function hashOperation(operationText: string): string {
  return createHash("sha256").update(operationText).digest("base64url");
}
