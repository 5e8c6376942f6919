// A map for caches that limits the number of its entries and the sum of their weights.
import { evictUntil } from "./second-chance.ts";

export interface MapSize {
  readonly entries: number;
  /** In the unit of the caller, for example estimated bytes. */
  readonly weight: number;
}

export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  /** @returns false for a weight (default 1) above `weightMax`: the value is not stored, and the previous entry of the key is removed. */
  set(key: string, value: Value, weight?: number): boolean;
  /** Adds to the weight of an entry that has grown or shrunk. Evicts other entries if the sum is above `weightMax`, this entry if it alone is. */
  addWeight(key: string, weight: number): void;
  delete(key: string): boolean;
  clear(): void;
  /** Does not mark the entries as used. */
  values(): Iterable<Value>;
  size(): MapSize;
}

interface MapEntry<Value> {
  readonly value: Value;
  weight: number;
  isUsed: boolean;
}

/** Evicts by second chance (second-chance.ts). @param entriesMax at least 1. */
export function createBoundedMap<Value>({
  entriesMax,
  weightMax = Infinity,
  onRemoved,
  onEvicted,
}: {
  entriesMax: number;
  weightMax?: number;
  /** Synchronously, for any reason: evicted, deleted, cleared or replaced. */
  onRemoved?: (value: Value) => void;
  onEvicted?: () => void;
}): BoundedMap<Value> {
  const entries = new Map<string, MapEntry<Value>>();
  let weight = 0;

  function remove(key: string): boolean {
    const entry = entries.get(key);
    if (entry === undefined) return false;
    weight -= entry.weight;
    entries.delete(key);
    onRemoved?.(entry.value);
    return true;
  }

  function evict(key: string): void {
    remove(key);
    onEvicted?.();
  }

  function evictUntilFits(addedEntries: number, addedWeight: number): void {
    const fits = () => entries.size + addedEntries <= entriesMax && weight + addedWeight <= weightMax;
    evictUntil(entries, fits, evict);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entry.isUsed = true;
      return entry.value;
    },
    set(key, value, valueWeight = 1) {
      remove(key);
      if (valueWeight > weightMax) return false;
      evictUntilFits(1, valueWeight);
      entries.set(key, { value, weight: valueWeight, isUsed: false });
      weight += valueWeight;
      return true;
    },
    addWeight(key, added) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entry.weight += added;
      weight += added;
      if (entry.weight > weightMax) {
        evict(key);
        return;
      }
      entry.isUsed = true;
      evictUntilFits(0, 0);
    },
    delete: remove,
    clear() {
      for (const key of entries.keys()) remove(key);
    },
    size: () => ({ entries: entries.size, weight }),
    values: () => entries.values().map(({ value }) => value),
  };
}
