export interface InFlightEntry<Item> {
  readonly item: Item;
  readonly number: number;
  /** -1 once it is removed. */
  index: number;
}

/**
 * Items that are added and removed with each request, in constant time. Not a `Set`: V8 copies its table every few changes, and once one has survived
 * two scavenges, all later tables remain in the old heap until a full collection (in-flight-list.test.ts measures this).
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

  remove(entry: InFlightEntry<Item>): void {
    if (entry.index === -1) return;
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      last.index = entry.index;
      this.#entries[entry.index] = last;
    }
    entry.index = -1;
  }

  countOf(item: Item): number {
    let count = 0;
    for (const entry of this.#entries) if (entry.item === item) count++;
    return count;
  }

  /** In the order in which they were added. */
  items(isWanted: (item: Item) => boolean = () => true): readonly Item[] {
    const wanted = this.#entries.filter(({ item }) => isWanted(item));
    return wanted.sort((a, b) => a.number - b.number).map(({ item }) => item);
  }
}
