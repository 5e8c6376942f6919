// Remembers operations that were too complex to plan, so that repeated requests for them are rejected without planning. One per generation.
import { createHash } from "node:crypto";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";

export interface RejectedOperations {
  add(key: string): void;
  has(key: string): boolean;
}

const entriesMax = 1_000;
/**
 * After the first failure. Each further one doubles the time; a success does not reset it. Short at first, because the operation takes less CPU time
 * once the planner's code is compiled and its caches are filled.
 */
const ttlMsMin = 10_000;
const ttlMsMax = 10 * 60_000;

interface RejectedOperation {
  readonly ttlMs: number;
  readonly untilMs: number;
}

/** Stores hashes, because operations that are too complex are often long. @param nowMs a monotonic clock. */
export function createRejectedOperations(nowMs = () => performance.now()): RejectedOperations {
  const entries = createBoundedMap<RejectedOperation>({ entriesMax });
  return {
    add(key) {
      const hash = hashOperation(key);
      const previous = entries.get(hash);
      const ttlMs = previous ? Math.min(2 * previous.ttlMs, ttlMsMax) : ttlMsMin;
      entries.set(hash, { ttlMs, untilMs: nowMs() + ttlMs });
    },
    has(key) {
      // Without entries, the operation need not be hashed.
      if (entries.size().entries === 0) return false;
      const rejected = entries.get(hashOperation(key));
      return rejected !== undefined && nowMs() < rejected.untilMs;
    },
  };
}

/** SHA-256 in base64url of the text for the planner, which is normalized: not comparable with the hash of the client's document. */
export function hashOperation(operationText: string): string {
  return createHash("sha256").update(operationText).digest("base64url");
}
