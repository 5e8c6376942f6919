// Stage 2 of 5: what do you ask? Documents are kept, persisted queries too: so many, and so heavy.

/** How full something is that is kept within bounds. */
export interface KeptSize {
  readonly entries: number;
  /** In bytes, about. */
  readonly bytes: number;
}

export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  /** @returns false for one heavier than the whole map, which is not kept. */
  set(key: string, value: Value, weight: number): boolean;
  delete(key: string): boolean;
  /** All that is kept; reading them is no use. */
  values(): Iterable<Value>;
  /** What weighs is taken for bytes. */
  size(): KeptSize;
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
  onDrop,
  onEvicted,
}: {
  entriesMax: number;
  weightMax: number;
  onDrop?: (value: Value) => void;
  /** One had to make room. */
  onEvicted?: () => void;
}): BoundedMap<Value> {
  const kept = new Map<string, Kept<Value>>();
  let weight = 0;

  function drop(key: string): boolean {
    const entry = kept.get(key);
    if (entry === undefined) return false;
    weight -= entry.weight;
    kept.delete(key);
    onDrop?.(entry.value);
    return true;
  }

  function makeRoom(valueWeight: number): void {
    for (const [key, entry] of kept) {
      if (kept.size < entriesMax && weight + valueWeight <= weightMax) return;
      if (entry.used) {
        entry.used = false;
        kept.delete(key);
        kept.set(key, entry);
      } else {
        drop(key);
        onEvicted?.();
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
      if (valueWeight > weightMax) return false;
      makeRoom(valueWeight);
      kept.set(key, { value, weight: valueWeight, used: false });
      weight += valueWeight;
      return true;
    },
    delete: drop,
    size: () => ({ entries: kept.size, bytes: weight }),
    values: () => kept.values().map(({ value }) => value),
  };
}
