// A map that evicts entries, bounded by their number and their weight.

/** The fill level of a cache. */
export interface MapSize {
  readonly entries: number;
  /** Estimated. */
  readonly bytes: number;
}

export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  /** @returns false for an entry heavier than the whole map, which is not stored. */
  set(key: string, value: Value, weight?: number): boolean;
  /** Changes the weight of a stored entry that retains more or less memory than before. `weight` may be negative. */
  addWeight(key: string, weight: number): void;
  delete(key: string): boolean;
  clear(): void;
  /** Does not count as a use of the entries. */
  values(): Iterable<Value>;
  /** Reports the weight as bytes. */
  size(): MapSize;
}

interface MapEntry<Value> {
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
  /** Called for every removed value: evicted, deleted or replaced. */
  onDrop?: (value: Value) => void;
  /** Called for every entry that is evicted by the bounds. */
  onEvicted?: () => void;
}): BoundedMap<Value> {
  const entries = new Map<string, MapEntry<Value>>();
  let weight = 0;

  function drop(key: string): boolean {
    const entry = entries.get(key);
    if (entry === undefined) return false;
    weight -= entry.weight;
    entries.delete(key);
    onDrop?.(entry.value);
    return true;
  }

  /** Evicts entries until so many more of this total weight fit. */
  function evict(addedEntries: number, addedWeight: number): void {
    for (const [key, entry] of entries) {
      if (entries.size + addedEntries <= entriesMax && weight + addedWeight <= weightMax) return;
      if (entry.used) {
        entry.used = false;
        entries.delete(key);
        entries.set(key, entry);
      } else {
        drop(key);
        onEvicted?.();
      }
    }
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entry.used = true;
      return entry.value;
    },
    set(key, value, valueWeight = 1) {
      drop(key);
      if (valueWeight > weightMax) return false;
      evict(1, valueWeight);
      entries.set(key, { value, weight: valueWeight, used: false });
      weight += valueWeight;
      return true;
    },
    addWeight(key, added) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entry.weight += added;
      weight += added;
      if (entry.weight > weightMax) {
        drop(key);
        onEvicted?.();
        return;
      }
      // Others are evicted first.
      entry.used = true;
      evict(0, 0);
    },
    delete: drop,
    clear() {
      for (const key of entries.keys()) drop(key);
    },
    size: () => ({ entries: entries.size, bytes: weight }),
    values: () => entries.values().map(({ value }) => value),
  };
}
