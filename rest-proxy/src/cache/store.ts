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

interface Slot {
  /** The newest first. */
  entries: readonly Entry[];
  isUsed: boolean;
}

/** Evicts keys by second chance. */
export class Store {
  readonly #limits: StoreLimits;
  readonly #onEvicted: (entry: Entry) => void;
  readonly #byKey = new Map<string, Slot>();
  readonly #groups = new GroupIndex<Entry>();
  bytes = 0;
  entries = 0;

  constructor(limits: StoreLimits, onEvicted: (entry: Entry) => void) {
    this.#limits = limits;
    this.#onEvicted = onEvicted;
  }

  /** The newest that matches (RFC 9111, 4.1), fresh or stale. */
  find(key: string, varyValueOf: VaryValueOf): Entry | undefined {
    const slot = this.#byKey.get(key);
    if (!slot) return undefined;
    slot.isUsed = true;
    for (const entry of slot.entries) if (matchesVary(entry.varyKey, varyValueOf)) return entry;
    return undefined;
  }

  variants(key: string): readonly Entry[] {
    return this.#byKey.get(key)?.entries ?? [];
  }

  /** @returns false if the entry is too large, or one for the same requests has a higher `position`. */
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

  /** @returns the number of responses that were valid before, as do the next two methods. */
  invalidateKey(key: string): number {
    return this.#invalidate(this.variants(key));
  }

  invalidateGroup(group: string, origin?: string): number {
    return this.#invalidate(this.#groups.list(group, origin));
  }

  /** Examines all responses. None remains to be confirmed: ETags may identify other states than before. */
  removeOrigin(origin: string): number {
    const all = [...this.#byKey.values()].flatMap(({ entries }) => entries);
    const removed = all.filter((entry) => entry.origin === origin);
    const validBefore = this.#invalidate(removed);
    for (const entry of removed) this.remove(entry);
    return validBefore;
  }

  /** An entry with a strong ETag remains, so that the origin can confirm it with a 304. */
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
