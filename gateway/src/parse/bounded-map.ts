// Stage 2 of 5: what do you ask? Documents are kept, persisted queries too: so many, and so heavy.

export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  /** One heavier than the whole map is not kept. */
  set(key: string, value: Value, weight: number): void;
  delete(key: string): boolean;
  /** All that is kept; reading them is no use. */
  values(): Iterable<Value>;
}

interface Kept<Value> {
  readonly value: Value;
  readonly weight: number;
  used: boolean;
}

/**
 * Drops what was not used since it last came to the front of the queue ("second chance"): as good as the least recently used for our
 * purpose, and a hit only sets a flag. Reordering the map on each hit would cost more than the look-up.
 */
export function createBoundedMap<Value>({
  entriesMax,
  weightMax,
}: {
  entriesMax: number;
  weightMax: number;
}): BoundedMap<Value> {
  const kept = new Map<string, Kept<Value>>();
  let weight = 0;

  function drop(key: string): boolean {
    weight -= kept.get(key)?.weight ?? 0;
    return kept.delete(key);
  }

  function makeRoom(valueWeight: number): void {
    for (const [key, entry] of kept) {
      if (kept.size < entriesMax && weight + valueWeight <= weightMax) return;
      if (!entry.used) drop(key);
      else {
        entry.used = false;
        kept.delete(key);
        kept.set(key, entry);
      }
    }
  }

  return {
    get(key) {
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      entry.used = true;
      return entry.value;
    },
    set(key, value, valueWeight) {
      drop(key);
      if (valueWeight > weightMax) return;
      makeRoom(valueWeight);
      kept.set(key, { value, weight: valueWeight, used: false });
      weight += valueWeight;
    },
    delete: drop,
    values: () => kept.values().map(({ value }) => value),
  };
}
