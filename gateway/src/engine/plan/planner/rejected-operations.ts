// Remembers operations that were too complex to plan, so that repeated requests for them are rejected without planning. One per generation.
import { createHash } from "node:crypto";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";

interface RejectedOperationsOptions {
  readonly entriesMax: number;
  /**
   * How long an operation is rejected after its first failure. Each further failure doubles the time, up to `ttlMsMax`; a success does not reset it.
   * It is short at first, because the same operation takes less CPU time once the planner's code is compiled and its caches are filled.
   */
  readonly ttlMsMin: number;
  readonly ttlMsMax: number;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
}

interface RejectedOperation {
  readonly ttlMs: number;
  readonly untilMs: number;
}

/** Stores hashes, because operations that are too complex are often long. */
export function createRejectedOperations({ entriesMax, ttlMsMin, ttlMsMax, clock }: RejectedOperationsOptions) {
  const entries = createBoundedMap<RejectedOperation>({ entriesMax });
  return {
    /** @param key see `planKey`. */
    add(key: string): void {
      const hash = hashOperation(key);
      const previous = entries.get(hash);
      const ttlMs = previous ? Math.min(2 * previous.ttlMs, ttlMsMax) : ttlMsMin;
      entries.set(hash, { ttlMs, untilMs: clock() + ttlMs });
    },
    /** Whether the operation failed so recently that it is still rejected. */
    has(key: string): boolean {
      // Without entries, the operation need not be hashed.
      if (entries.size().entries === 0) return false;
      const rejected = entries.get(hashOperation(key));
      return rejected !== undefined && clock() < rejected.untilMs;
    },
  };
}

/** SHA-256 in base64url of the text for the planner, which is normalized: not comparable with the hash of the client's document. */
export function hashOperation(operationText: string): string {
  return createHash("sha256").update(operationText).digest("base64url");
}
