import { type Entry, isDisjoint, isSameSelection, isSelected, type Selecting } from "./entry.ts";

export interface StoreLimits {
  readonly bytesMax: number;
  readonly entryBytesMax: number;
  readonly entriesMax: number;
  readonly variantsMax: number;
}

/** The stored responses of one key, the newest first. */
interface Slot {
  readonly entries: readonly Entry[];
  /** Since it was stored or last examined for eviction. */
  isUsed: boolean;
}

/**
 * The stored responses, in memory. Second chance, as in the kit's `bounded-map.ts`: the oldest key is evicted unless it was used since it was
 * stored or last examined; then it moves to the end.
 */
export class Store {
  readonly #limits: StoreLimits;
  readonly #onEvicted: (entry: Entry) => void;
  /** In eviction order. */
  readonly #byKey = new Map<string, Slot>();
  readonly #byGroup = new Map<string, Set<Entry>>();
  bytes = 0;
  entries = 0;

  /** @param onEvicted called for each response that is removed because a limit is reached. */
  constructor(limits: StoreLimits, onEvicted: (entry: Entry) => void) {
    this.#limits = limits;
    this.#onEvicted = onEvicted;
  }

  /** The newest response that the request selects (RFC 9111, 4.1). Counts as a use. */
  find(key: string, selecting: Selecting): Entry | undefined {
    const slot = this.#byKey.get(key);
    if (!slot) return undefined;
    slot.isUsed = true;
    for (const entry of slot.entries) if (isSelected(entry.selection, selecting)) return entry;
    return undefined;
  }

  /** All stored responses of a key, the newest first. */
  variants(key: string): readonly Entry[] {
    return this.#byKey.get(key)?.entries ?? [];
  }

  /**
   * Replaces the entry with the same selection. False if it is too large, or if an entry that the same request may select was requested after a
   * write or a `no-cache` that followed its own request. The caller has to reject an entry that an invalidation outdates (`InvalidationLog.isOutdated`).
   */
  put(entry: Entry): boolean {
    const { sentAt, selection } = entry;
    const isNewer = (other: Entry) => other.sentAt > sentAt && !isDisjoint(other.selection, selection);
    if (this.variants(entry.key).some(isNewer)) return false;
    const { entryBytesMax, bytesMax, variantsMax } = this.#limits;
    const same = this.variants(entry.key).find(({ selection }) => isSameSelection(selection, entry.selection));
    if (same) this.remove(same);
    if (entry.bytes > Math.min(entryBytesMax, bytesMax)) return false;
    this.#evictUntilFits(entry.bytes);
    const variants = [entry, ...this.variants(entry.key)];
    this.#byKey.delete(entry.key);
    this.#byKey.set(entry.key, { entries: variants, isUsed: false });
    this.#count(entry);
    for (const surplus of variants.slice(variantsMax)) this.#evict(surplus);
    return true;
  }

  /** Does nothing if the entry is not in the store any more. */
  remove(entry: Entry): void {
    const slot = this.#byKey.get(entry.key);
    if (!slot?.entries.includes(entry)) return;
    const entries = slot.entries.filter((other) => other !== entry);
    if (entries.length === 0) this.#byKey.delete(entry.key);
    else this.#byKey.set(entry.key, { ...slot, entries });
    this.#discount(entry);
  }

  /** @returns the number of removed responses. */
  removeKey(key: string): number {
    const variants = [...this.variants(key)];
    for (const entry of variants) this.remove(entry);
    return variants.length;
  }

  /** RFC 9875, 2.2.1. @returns the number of removed responses. */
  removeGroup(group: string): number {
    const members = [...(this.#byGroup.get(group) ?? [])];
    for (const entry of members) this.remove(entry);
    return members.length;
  }

  #count(entry: Entry): void {
    this.bytes += entry.bytes;
    this.entries++;
    for (const group of entry.groups) {
      const members = this.#byGroup.get(group);
      if (members) members.add(entry);
      else this.#byGroup.set(group, new Set([entry]));
    }
  }

  #discount(entry: Entry): void {
    this.bytes -= entry.bytes;
    this.entries--;
    for (const group of entry.groups) {
      const members = this.#byGroup.get(group);
      members?.delete(entry);
      if (members?.size === 0) this.#byGroup.delete(group);
    }
  }

  #evict(entry: Entry): void {
    this.remove(entry);
    this.#onEvicted(entry);
  }

  /** Evicts until one more response of this size fits. */
  #evictUntilFits(bytes: number): void {
    for (const [key, { entries, isUsed }] of this.#byKey) {
      if (this.#fits(bytes)) return;
      if (isUsed) {
        this.#byKey.delete(key);
        this.#byKey.set(key, { entries, isUsed: false });
      } else this.#evictVariants(bytes, entries);
    }
  }

  #evictVariants(bytes: number, entries: readonly Entry[]): void {
    for (const entry of entries.toReversed()) {
      if (this.#fits(bytes)) return;
      this.#evict(entry);
    }
  }

  #fits(bytes: number): boolean {
    return this.bytes + bytes <= this.#limits.bytesMax && this.entries < this.#limits.entriesMax;
  }
}
