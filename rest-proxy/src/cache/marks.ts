import { createBoundedMap } from "@tributary/kit/collections/bounded-map";

export interface Marks {
  /** For so many milliseconds from now on. */
  set(key: string, forMs: number): void;
  has(key: string): boolean;
  delete(key: string): void;
}

/** Remembers keys for a while: at most `marksMax`, the oldest mark goes first. */
export function createMarks({ marksMax, nowMs }: { readonly marksMax: number; readonly nowMs: () => number }): Marks {
  const untilMs = createBoundedMap<number>({ entriesMax: marksMax });
  return {
    set: (key, forMs) => void untilMs.set(key, nowMs() + forMs),
    has(key) {
      const until = untilMs.get(key);
      if (until === undefined) return false;
      if (until > nowMs()) return true;
      untilMs.delete(key);
      return false;
    },
    delete: (key) => void untilMs.delete(key),
  };
}
