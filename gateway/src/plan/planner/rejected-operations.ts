// Remembers operations that could not be planned, so that repeated requests for them are rejected without planning.
import { createHash } from "node:crypto";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";

export interface RejectedOperations {
  add(operationText: string): void;
  has(operationText: string): boolean;
}

/** Stores hashes: operations that cannot be planned are often long. */
export function createRejectedOperations(o: {
  readonly entriesMax: number;
  /**
   * How long an operation is rejected the first time. Each further time takes twice as long: a planning timeout may also be the fault of a
   * busy machine, such as when the gateway has just started.
   */
  readonly ttlMsMin: number;
  readonly ttlMsMax: number;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
}): RejectedOperations {
  const entries = createBoundedMap<{ readonly ttlMs: number; readonly untilMs: number }>({ entriesMax: o.entriesMax });
  return {
    add(operationText) {
      const hash = hashOperation(operationText);
      const previous = entries.get(hash);
      const ttlMs = previous ? Math.min(2 * previous.ttlMs, o.ttlMsMax) : o.ttlMsMin;
      entries.set(hash, { ttlMs, untilMs: o.clock() + ttlMs });
    },
    has(operationText) {
      if (entries.size().entries === 0) return false;
      return (entries.get(hashOperation(operationText))?.untilMs ?? -Infinity) > o.clock();
    },
  };
}

export function hashOperation(operationText: string): string {
  return createHash("sha256").update(operationText).digest("base64url");
}
