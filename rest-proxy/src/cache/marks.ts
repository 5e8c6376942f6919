export interface Marks {
  /** For so many milliseconds from now on. */
  set(key: string, forMs: number): void;
  has(key: string): boolean;
  delete(key: string): void;
}

/** Remembers keys for a while: at most `marksMax`, the oldest mark goes first. */
export function createMarks({ marksMax, nowMs }: { readonly marksMax: number; readonly nowMs: () => number }): Marks {
  const untilMs = new Map<string, number>();
  return {
    set(key, forMs) {
      untilMs.delete(key);
      untilMs.set(key, nowMs() + forMs);
      if (untilMs.size <= marksMax) return;
      for (const oldest of untilMs.keys()) return void untilMs.delete(oldest);
    },
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
