/** A handle that `InFlightList.add` returns and `remove` takes. Only the list changes it. */
export interface InFlightEntry<Item> {
  readonly item: Item;
  /** Higher than that of all items added before. */
  readonly number: number;
  /** Its current position, which changes when others are removed; -1 once it is removed. */
  index: number;
}

/**
 * A list of items that are added and removed with each request, such as pending responses (process/pending-responses.ts). Adding and removing take
 * constant time.
 *
 * Not a `Set`: V8 copies a Set's table every few additions and removals, and each old table references the next. Once a table has survived two
 * collections of V8's young heap, it and all later tables with their members remain in the old heap until the next full collection
 * (in-flight-list.test.ts measures this).
 */
export class InFlightList<Item> {
  readonly #entries: InFlightEntry<Item>[] = [];
  #lastNumber = 0;

  get size(): number {
    return this.#entries.length;
  }

  add(item: Item): InFlightEntry<Item> {
    this.#lastNumber++;
    const entry = { item, number: this.#lastNumber, index: this.#entries.length };
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
