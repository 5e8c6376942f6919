// Stage 2 of 5: what do you ask? Where automatic persisted queries are kept.

export interface BoundedCache {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<boolean>;
}

/** Texts in memory, the least recently used ones dropped first. A text longer than the whole cache is not kept. */
export function createBoundedCache({
  entriesMax,
  charactersMax,
}: {
  entriesMax: number;
  charactersMax: number;
}): BoundedCache {
  const kept = new Map<string, string>();
  let characters = 0;

  function drop(key: string): boolean {
    const value = kept.get(key);
    if (value === undefined) return false;
    characters -= key.length + value.length;
    return kept.delete(key);
  }

  return {
    get(key) {
      const value = kept.get(key);
      if (value !== undefined) {
        kept.delete(key);
        kept.set(key, value);
      }
      return Promise.resolve(value);
    },
    set(key, value) {
      drop(key);
      if (key.length + value.length > charactersMax) return Promise.resolve();
      kept.set(key, value);
      characters += key.length + value.length;
      for (const oldest of kept.keys()) {
        if (kept.size <= entriesMax && characters <= charactersMax) break;
        drop(oldest);
      }
      return Promise.resolve();
    },
    delete: (key) => Promise.resolve(drop(key)),
  };
}
