// A map for caches that limits the number of its entries and the sum of their weights.
import { evictUntil } from "./second-chance.ts";

export interface MapSize {
  readonly entries: number;
  /** The sum of the weights, in the unit of the caller: for example estimated bytes. */
  readonly weight: number;
}

export interface BoundedMap<Value> {
  /** Marks the entry as used. */
  get(key: string): Value | undefined;
  /**
   * Replaces the entry of the key.
   * @param weight default 1.
   * @returns false for a weight above `weightMax`: the value is not stored, and the previous entry of the key is removed nevertheless.
   */
  set(key: string, value: Value, weight?: number): boolean;
  /**
   * Adds to the weight of an entry whose value has grown, or has shrunk if `weight` is negative, and marks it as used. Evicts other entries
   * if the sum is above `weightMax`; evicts this entry if it alone is. Does nothing if the key has no entry.
   */
  addWeight(key: string, weight: number): void;
  /** @returns whether the key had an entry. */
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

/**
 * Evicts by second chance (second-chance.ts).
 * @param entriesMax at least 1.
 * @param weightMax of all entries together. Default: only their number is limited.
 */
export function createBoundedMap<Value>({
  entriesMax,
  weightMax = Infinity,
  onRemoved,
  onEvicted,
}: {
  entriesMax: number;
  weightMax?: number;
  /** Called synchronously after a value was removed for any reason: evicted, deleted, cleared or replaced. */
  onRemoved?: (value: Value) => void;
  /** Called, after `onRemoved`, only for entries that a limit evicted. */
  onEvicted?: () => void;
}): BoundedMap<Value> {
  /** In eviction order. */
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

  /** Evicts until both limits hold after `addedEntries` with a total weight of `addedWeight` are stored. */
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
      // So that the other entries are evicted before this one.
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
