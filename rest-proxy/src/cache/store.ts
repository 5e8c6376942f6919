// The memory of the cache. `createSharedCache` creates one store; read.ts, origin-fetch.ts, freshening.ts and invalidation.ts use it.
import type { Entry } from "./entry.ts";
import { hasStrongEtag } from "./conditional.ts";
import { isDisjoint, isSameVaryKey, matchesVary, type VaryValueOf } from "./vary.ts";

export interface StoreLimits {
  readonly bytesMax: number;
  readonly entryBytesMax: number;
  readonly entriesMax: number;
  readonly variantsMax: number;
}

/** The stored responses of one key, the newest first. */
interface Slot {
  readonly entries: readonly Entry[];
  /** Whether `find` was called for the key since its last response was stored, or since the key was last examined for eviction. */
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
  /** Of all entries, see `Entry.bytes`. */
  bytes = 0;
  /** The number of stored responses. */
  entries = 0;

  /** @param onEvicted called for each response that is removed because a limit is reached. */
  constructor(limits: StoreLimits, onEvicted: (entry: Entry) => void) {
    this.#limits = limits;
    this.#onEvicted = onEvicted;
  }

  /** The newest stored response that matches the request (RFC 9111, 4.1), fresh or stale. Marks the key as used. */
  find(key: string, varyValueOf: VaryValueOf): Entry | undefined {
    const slot = this.#byKey.get(key);
    if (!slot) return undefined;
    slot.isUsed = true;
    for (const entry of slot.entries) if (matchesVary(entry.varyKey, varyValueOf)) return entry;
    return undefined;
  }

  /** All stored responses of a key, the newest first. Does not mark the key as used. */
  variants(key: string): readonly Entry[] {
    return this.#byKey.get(key)?.entries ?? [];
  }

  /**
   * Stores an entry; it replaces the entry with the same `Vary` key. Does not check `InvalidationLog.isOutdated`: the caller has to.
   * @returns false if the entry is not stored: it is too large, or an entry that matches the same requests has a higher `position`.
   */
  put(entry: Entry): boolean {
    const { key, position, varyKey } = entry;
    const isNewer = (other: Entry) => other.position > position && !isDisjoint(other.varyKey, varyKey);
    if (this.variants(key).some(isNewer)) return false;
    const { entryBytesMax, bytesMax, variantsMax } = this.#limits;
    const replaced = this.variants(key).find((other) => isSameVaryKey(other.varyKey, varyKey));
    // Also if the new response is too large to be stored: the old one is outdated.
    if (replaced) this.remove(replaced);
    if (entry.bytes > Math.min(entryBytesMax, bytesMax)) return false;
    this.#evictUntilFits(entry.bytes);
    const variants = [entry, ...this.variants(key)];
    // Deleted first, so that the key moves to the end of the eviction order.
    this.#byKey.delete(key);
    this.#byKey.set(key, { entries: variants, isUsed: false });
    this.#register(entry);
    for (const surplus of variants.slice(variantsMax)) this.#evict(surplus);
    return true;
  }

  /** Does nothing if the entry is not in the store any more. */
  remove(entry: Entry): void {
    const slot = this.#byKey.get(entry.key);
    if (!slot?.entries.includes(entry)) return;
    const remaining = slot.entries.filter((other) => other !== entry);
    if (remaining.length === 0) this.#byKey.delete(entry.key);
    else this.#byKey.set(entry.key, { entries: remaining, isUsed: slot.isUsed });
    this.#unregister(entry);
  }

  /** @returns the number of responses that were valid before. */
  invalidateKey(key: string): number {
    return this.#invalidate(this.variants(key));
  }

  /** RFC 9875, 2.2.1. @param origin undefined: of any. @returns the number of responses that were valid before. */
  invalidateGroup(group: string, origin?: string): number {
    const members = [...(this.#byGroup.get(group) ?? [])];
    if (origin === undefined) return this.#invalidate(members);
    return this.#invalidate(members.filter((entry) => entry.origin === origin));
  }

  /**
   * Removes all responses of an origin whose data were reset: its ETags may identify other states than before, so no entry remains to be confirmed.
   * Examines all responses.
   * @returns the number of responses that were valid before.
   */
  removeOrigin(origin: string): number {
    const all = [...this.#byKey.values()].flatMap(({ entries }) => entries);
    const removed = all.filter((entry) => entry.origin === origin);
    const validBefore = this.#invalidate(removed);
    for (const entry of removed) this.remove(entry);
    return validBefore;
  }

  /**
   * An invalidated entry with a strong ETag remains, so that the origin can confirm it with a 304 instead of sending it again.
   * @returns the number of responses that were valid before.
   */
  #invalidate(entries: Iterable<Entry>): number {
    let validBefore = 0;
    for (const entry of [...entries]) {
      if (entry.isInvalidated) continue;
      validBefore++;
      entry.isInvalidated = true;
      if (!hasStrongEtag(entry.validators)) this.remove(entry);
    }
    return validBefore;
  }

  /** Adds the entry to the totals and to the index of groups. */
  #register(entry: Entry): void {
    this.bytes += entry.bytes;
    this.entries++;
    for (const group of entry.groups) {
      const members = this.#byGroup.get(group);
      if (members) members.add(entry);
      else this.#byGroup.set(group, new Set([entry]));
    }
  }

  #unregister(entry: Entry): void {
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

  /**
   * Evicts keys from the front of the queue until one more response of this size fits. A key that is moved to the end is reached once
   * more, then unused, so the loop ends.
   */
  #evictUntilFits(bytes: number): void {
    for (const [key, { entries, isUsed }] of this.#byKey) {
      if (this.#fits(bytes)) return;
      if (isUsed) {
        this.#byKey.delete(key);
        this.#byKey.set(key, { entries, isUsed: false });
      } else {
        this.#evictVariants(bytes, entries);
      }
    }
  }

  /** Evicts entries of one key, the oldest first, until one more response of this size fits. */
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
