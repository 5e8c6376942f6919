// Stage 4 of 5: run. The results of subgraph requests that were composed entirely from the entity cache. Every caller that sends an equal request
// gets the same object, so values that are computed from it can be memoized on it (memoize-by-source.ts). subgraph-cache.ts has one store for each
// subgraph.
import { createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import type { StoredResult } from "./entity-store.ts";
import { confirmedMsOf } from "./freshness.ts";
import type { SharedSource } from "./memoize-by-source.ts";

/** The response of a subgraph as if one request had fetched everything. */
export interface ComposedResult extends SharedSource {
  readonly kind: "graphql";
  readonly data: Record<string, unknown>;
  readonly errors: readonly never[];
  readonly replica: "entity cache";
}

export interface WholeResult {
  readonly result: ComposedResult;
  /** What it is composed of. */
  readonly parts: readonly StoredResult[];
  /** The earliest time at which a part expires (`confirmedMsOf`), by the process's monotonic clock. */
  readonly freshUntilMs: number;
  /** When subgraph-cache.ts last marked the parts as used, so that the entity store does not evict them. */
  usedAtMs: number;
}

export interface WholeResults {
  /**
   * Undefined if there is none, or if a part is no longer fresh or no longer stored.
   * @param body the JSON of the request.
   */
  find(body: string, nowMs: number): WholeResult | undefined;
  /** Sets `isShared` of the result. */
  put(body: string, result: ComposedResult, parts: readonly StoredResult[]): void;
  /** The weight is estimated memory in bytes, including memoized values, excluding the parts, which the entity store counts. */
  size(): MapSize;
}

/** Estimated memory of the entry of the map and the objects of the result. */
const wholeBytes = 600;
/** Two references to each part: from the list of parts, and from the composed list of entities. */
const partBytes = 16;

/** @param bytesMax estimated memory. */
export function createWholeResults(bytesMax: number): WholeResults {
  const wholes = createBoundedMap<WholeResult>({ entriesMax: Infinity, weightMax: bytesMax });
  return {
    find(body, nowMs) {
      const whole = wholes.get(body);
      if (!whole) return undefined;
      if (nowMs < whole.freshUntilMs && whole.parts.every(({ isStored }) => isStored)) return whole;
      wholes.delete(body);
      return undefined;
    },
    put(body, result, parts) {
      const freshUntilMs = Math.min(...parts.map((part) => part.sentAtMs + confirmedMsOf(part)));
      const whole = { result, parts, freshUntilMs, usedAtMs: 0 };
      result.isShared = true;
      result.onMemo = (bytes) => {
        if (wholes.get(body) === whole) wholes.addWeight(body, bytes);
      };
      wholes.set(body, whole, wholeBytes + body.length + partBytes * parts.length);
    },
    size: wholes.size,
  };
}
