// The memory of the cache.
import { evictUntil } from "@tributary/kit/collections/second-chance";
import { GroupIndex } from "@tributary/kit/invalidation/group-index";
import type { Entry } from "./entry.ts";
import { hasStrongEtag } from "./conditional.ts";
import { isDisjoint, isSameVaryKey, matchesVary, type VaryValueOf } from "./vary.ts";

export interface StoreLimits {
  readonly bytesMax: number;
  readonly entryBytesMax: number;
  readonly entriesMax: number;
  readonly variantsMax: number;
}

/** The stored responses of one key. */
interface Slot {
  /** The newest first. */
  entries: readonly Entry[];
  isUsed: boolean;
}

/** Evicts keys by second chance. */
export class Store {
  readonly #limits: StoreLimits;
  readonly #onEvicted: (entry: Entry) => void;
  /** In eviction order. */
  readonly #byKey = new Map<string, Slot>();
  readonly #groups = new GroupIndex<Entry>();
  bytes = 0;
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
   * Replaces the entry with the same `Vary` key. The caller has checked `InvalidationLog.isOutdated`.
   * @returns false if the entry is not stored: it is too large, or an entry that matches the same requests has a higher `position`.
   */
  put(entry: Entry): boolean {
    const { key, position, varyKey } = entry;
    const isNewer = (other: Entry) => other.position > position && !isDisjoint(other.varyKey, varyKey);
    if (this.variants(key).some(isNewer)) return false;
    const { entryBytesMax, bytesMax, entriesMax, variantsMax } = this.#limits;
    const replaced = this.variants(key).find((other) => isSameVaryKey(other.varyKey, varyKey));
    // Also if the new response is too large to be stored: the old one is outdated.
    if (replaced) this.remove(replaced);
    if (entry.bytes > Math.min(entryBytesMax, bytesMax)) return false;
    const fits = () => this.bytes + entry.bytes <= bytesMax && this.entries < entriesMax;
    evictUntil(this.#byKey, fits, (_, { entries }) => {
      for (const oldest of entries.toReversed()) if (!fits()) this.#evict(oldest);
    });
    const variants = [entry, ...this.variants(key)];
    // Deleted first, so that the key moves to the end of the eviction order.
    this.#byKey.delete(key);
    this.#byKey.set(key, { entries: variants, isUsed: false });
    this.bytes += entry.bytes;
    this.entries++;
    this.#groups.add(entry);
    for (const surplus of variants.slice(variantsMax)) this.#evict(surplus);
    return true;
  }

  /** Does nothing if the entry is not in the store any more. */
  remove(entry: Entry): void {
    const slot = this.#byKey.get(entry.key);
    if (!slot?.entries.includes(entry)) return;
    const remaining = slot.entries.filter((other) => other !== entry);
    if (remaining.length === 0) this.#byKey.delete(entry.key);
    else slot.entries = remaining;
    this.bytes -= entry.bytes;
    this.entries--;
    this.#groups.delete(entry);
  }

  /** @returns the number of responses that were valid before. */
  invalidateKey(key: string): number {
    return this.#invalidate(this.variants(key));
  }

  /** RFC 9875, 2.2.1. @param origin undefined: of any. @returns the number of responses that were valid before. */
  invalidateGroup(group: string, origin?: string): number {
    return this.#invalidate(this.#groups.list(group, origin));
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
  #invalidate(entries: readonly Entry[]): number {
    let validBefore = 0;
    for (const entry of entries) {
      if (entry.isInvalidated) continue;
      validBefore++;
      entry.isInvalidated = true;
      if (!hasStrongEtag(entry.validators)) this.remove(entry);
    }
    return validBefore;
  }

  #evict(entry: Entry): void {
    this.remove(entry);
    this.#onEvicted(entry);
  }
}
