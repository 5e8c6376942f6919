// Stage 3 of 5: how to answer? Operations that could not be planned, so that they are not tried again and again.
import { createHash } from "node:crypto";

export interface RefusedOperations {
  add(operationText: string): void;
  has(operationText: string): boolean;
}

/** They are kept as hashes: an operation that cannot be planned tends to be long. */
export function createRefusedOperations(o: {
  readonly entriesMax: number;
  /** A machine that was too busy once may do better later. */
  readonly ttlMs: number;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
}): RefusedOperations {
  const untilMs = new Map<string, number>();
  return {
    add(operationText) {
      const hash = hashOperation(operationText);
      untilMs.delete(hash);
      untilMs.set(hash, o.clock() + o.ttlMs);
      for (const oldest of untilMs.keys()) {
        if (untilMs.size <= o.entriesMax) break;
        untilMs.delete(oldest);
      }
    },
    has(operationText) {
      if (untilMs.size === 0) return false;
      return (untilMs.get(hashOperation(operationText)) ?? -Infinity) > o.clock();
    },
  };
}

export function hashOperation(operationText: string): string {
  return createHash("sha256").update(operationText).digest("base64url");
}
