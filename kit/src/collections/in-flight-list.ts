/** An item's position in an InFlightList. */
export interface InFlightEntry<Item> {
  readonly item: Item;
  /** Higher than that of all items added before. */
  readonly number: number;
  /** -1 once it is removed. */
  index: number;
}

/**
 * A list of items that are added and removed with each request, such as pending responses.
 *
 * It is not a `Set`, because V8 copies a Set's table every few additions and removals. Each old table references the next. Once one has
 * survived two collections of the young generation, it promotes all later ones to the old generation, and with them every item that was a
 * member when they were copied, until the next full collection; in-flight-list.test.ts measures it.
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
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      last.index = entry.index;
      this.#entries[entry.index] = last;
    }
    entry.index = -1;
  }

  /** The current items in the order in which they were added. Later changes do not affect the returned array. */
  items(): readonly Item[] {
    return this.#entries.toSorted((one, other) => one.number - other.number).map(({ item }) => item);
  }
}
