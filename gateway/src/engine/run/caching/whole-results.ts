// Stage 4 of 5: run. Results that were composed entirely from the entity cache. Equal requests get the same object, on which values are memoized.
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import type { StoredResult } from "./entity-store.ts";
import { confirmedMsOf } from "./freshness.ts";
import type { SharedSource } from "./memoize-by-source.ts";

export interface ComposedResult extends SharedSource {
  readonly kind: "graphql";
  readonly data: Record<string, unknown>;
  readonly errors: readonly never[];
  readonly replica: "entity cache";
}

export interface WholeResult {
  readonly body: string;
  readonly result: ComposedResult;
  readonly parts: readonly StoredResult[];
  /** The earliest time at which a part expires. */
  readonly freshUntilMs: number;
  /** When the parts were last marked as used in the store. */
  usedAtMs: number;
}

export type WholeResults = ReturnType<typeof createWholeResults>;

/** Of the entry of the map and the objects of the result. */
const wholeBytes = 600;
/** Two references to each part. */
const partBytes = 16;
/** What is memoized on an expired result keeps compiled plans in memory, which its weight does not count. */
const sweepEveryMs = 60_000;

export function createWholeResults(bytesMax: number) {
  const wholes = createBoundedMap<WholeResult>({ entriesMax: Infinity, weightMax: bytesMax });
  let sweptAtMs = 0;

  function sweep(nowMs: number): void {
    sweptAtMs = nowMs;
    for (const { body, freshUntilMs } of wholes.values()) if (nowMs >= freshUntilMs) wholes.delete(body);
  }

  return {
    /** Undefined also if a part is no longer fresh or no longer stored. */
    find(body: string, nowMs: number): WholeResult | undefined {
      const whole = wholes.get(body);
      if (!whole) return undefined;
      if (nowMs < whole.freshUntilMs && whole.parts.every(({ isStored }) => isStored)) return whole;
      wholes.delete(body);
      return undefined;
    },
    put(body: string, result: ComposedResult, parts: readonly StoredResult[], nowMs: number): void {
      if (nowMs - sweptAtMs >= sweepEveryMs) sweep(nowMs);
      const freshUntilMs = parts.reduce((ms, part) => Math.min(ms, part.sentAtMs + confirmedMsOf(part)), Infinity);
      const whole = { body, result, parts, freshUntilMs, usedAtMs: 0 };
      result.isShared = true;
      result.onMemo = (bytes) => {
        if (wholes.get(body) === whole) wholes.addWeight(body, bytes);
      };
      wholes.set(body, whole, wholeBytes + body.length + partBytes * parts.length);
    },
    clear: wholes.clear,
    /** In estimated bytes, with memoized values, without the parts. */
    size: wholes.size,
  };
}
