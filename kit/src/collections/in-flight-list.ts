/** Returned by `add`, for `remove`. Only the list changes it. */
export interface InFlightEntry<Item> {
  readonly item: Item;
  /** Higher than that of all items added before. */
  readonly number: number;
  /** Its current position, which changes when others are removed; -1 once it is removed. */
  index: number;
}

/**
 * A list of items that are added and removed with each request, such as pending responses. Adding and removing take constant time.
 *
 * It is not a `Set`, because V8 copies a Set's table every few additions and removals, and each old table references the next. A table that
 * has survived two collections of V8's young heap is promoted to the old heap, and so are all later tables with their members, until the next
 * full collection; in-flight-list.test.ts measures it.
 */
export class InFlightList<Item> {
  readonly #entries: InFlightEntry<Item>[] = [];
  #lastNumber = 0;

  get size(): number {
    return this.#entries.length;
  }

  add(item: Item): InFlightEntry<Item> {
    const entry = { item, number: ++this.#lastNumber, index: this.#entries.length };
    this.#entries.push(entry);
    return entry;
  }

  /** Has no effect if the entry is removed already. */
  remove(entry: InFlightEntry<Item>): void {
    if (entry.index === -1) return;
    // The last entry takes the position of the removed one.
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      last.index = entry.index;
      this.#entries[entry.index] = last;
    }
    entry.index = -1;
  }

  /** The current items in the order in which they were added. Later changes do not affect the returned array. */
  items(): readonly Item[] {
    return this.#entries.toSorted((a, b) => a.number - b.number).map(({ item }) => item);
  }
}
