// A cache that is bounded by the number and the weight of its entries.

/** How full a cache is. */
export interface MapSize {
  readonly entries: number;
  /** Estimated. */
  readonly bytes: number;
}

export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  /** @returns false for an entry heavier than the whole map, which is not stored. */
  set(key: string, value: Value, weight?: number): boolean;
  /** Adds to the weight of an entry what it retains since it was stored. Negative for what it no longer retains. */
  addWeight(key: string, weight: number): void;
  delete(key: string): boolean;
  clear(): void;
  /** Does not count as use. */
  values(): Iterable<Value>;
  /** The weight is taken for bytes. */
  size(): MapSize;
}

interface Entry<Value> {
  readonly value: Value;
  weight: number;
  used: boolean;
}

/**
 * Evicts the oldest entry that was not used since it last came to the front of the queue ("second chance"). A hit only sets a flag;
 * reordering the map on each hit, as for least recently used, would cost more than the look-up.
 * @param weightMax sum of the weights of all entries; without it only their number is bounded.
 */
export function createBoundedMap<Value>({
  entriesMax,
  weightMax = Infinity,
  onDrop,
  onEvicted,
}: {
  entriesMax: number;
  weightMax?: number;
  onDrop?: (value: Value) => void;
  onEvicted?: () => void;
}): BoundedMap<Value> {
  const kept = new Map<string, Entry<Value>>();
  let weight = 0;

  function drop(key: string): boolean {
    const entry = kept.get(key);
    if (entry === undefined) return false;
    weight -= entry.weight;
    kept.delete(key);
    onDrop?.(entry.value);
    return true;
  }

  /** Until there is room for so many more entries of this weight. */
  function evict(entries: number, addedWeight: number): void {
    for (const [key, entry] of kept) {
      if (kept.size + entries <= entriesMax && weight + addedWeight <= weightMax) return;
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
    set(key, value, valueWeight = 1) {
      drop(key);
      if (valueWeight > weightMax) return false;
      evict(1, valueWeight);
      kept.set(key, { value, weight: valueWeight, used: false });
      weight += valueWeight;
      return true;
    },
    addWeight(key, added) {
      const entry = kept.get(key);
      if (entry === undefined) return;
      entry.weight += added;
      weight += added;
      if (entry.weight > weightMax) {
        drop(key);
        onEvicted?.();
        return;
      }
      // So that others are evicted first.
      entry.used = true;
      evict(0, 0);
    },
    delete: drop,
    clear() {
      for (const key of kept.keys()) drop(key);
    },
    size: () => ({ entries: kept.size, bytes: weight }),
    values: () => kept.values().map(({ value }) => value),
  };
}
