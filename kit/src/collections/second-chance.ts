/**
 * Evicts the oldest entry that was not used since it was stored or last examined; an entry that was used moves to the end. A use only sets a flag:
 * reordering the map at each use (least recently used) would cost more than the lookup.
 * @param entries in eviction order.
 * @param evict removes the entry, or makes `fits` true.
 */
export function evictUntil<Entry extends { isUsed: boolean }>(
  entries: Map<string, Entry>,
  fits: () => boolean,
  evict: (key: string, entry: Entry) => void,
): void {
  // An entry that moves to the end is iterated a second time, then unused, so the loop ends.
  for (const [key, entry] of entries) {
    if (fits()) return;
    if (entry.isUsed) {
      entry.isUsed = false;
      entries.delete(key);
      entries.set(key, entry);
    } else evict(key, entry);
  }
}
