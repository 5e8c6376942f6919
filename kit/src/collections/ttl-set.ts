import { createBoundedMap } from "./bounded-map.ts";

/** A set whose members expire. */
export interface TtlSet {
  add(key: string, ttlMs: number): void;
  has(key: string): boolean;
  delete(key: string): void;
}

/** @param entriesMax beyond this number, members are evicted before they expire. */
export function createTtlSet({
  entriesMax,
  nowMs,
}: {
  readonly entriesMax: number;
  readonly nowMs: () => number;
}): TtlSet {
  const expiryByKeyMs = createBoundedMap<number>({ entriesMax });
  return {
    add(key, ttlMs) {
      expiryByKeyMs.set(key, nowMs() + ttlMs);
    },
    has(key) {
      const expiresAtMs = expiryByKeyMs.get(key);
      if (expiresAtMs === undefined) return false;
      if (expiresAtMs > nowMs()) return true;
      expiryByKeyMs.delete(key);
      return false;
    },
    delete(key) {
      expiryByKeyMs.delete(key);
    },
  };
}
