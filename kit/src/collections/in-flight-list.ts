/** Something that is on a roster. */
export interface Entry<Item> {
  readonly item: Item;
  /** Higher than that of all who came before. */
  readonly number: number;
  /** Where it stands; -1 once it is off. */
  at: number;
}

/**
 * Who is there, for what comes and goes with each request.
 *
 * Not a `Set`, whose table V8 copies anew every few additions and removals: each old table leads to the next, so that once one has outlived
 * two collections of the young generation, it takes all later ones along into the old generation, and with them whatever was a member when
 * they were copied, until the next full collection, which begins it anew; `roster.test.ts` shows it.
 */
export class Roster<Item> {
  readonly #entries: Entry<Item>[] = [];
  #last = 0;

  get size(): number {
    return this.#entries.length;
  }

  add(item: Item): Entry<Item> {
    const entry = { item, number: ++this.#last, at: this.#entries.length };
    this.#entries.push(entry);
    return entry;
  }

  /** Nothing happens when it is off already. */
  remove(entry: Entry<Item>): void {
    if (entry.at === -1) return;
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      last.at = entry.at;
      this.#entries[entry.at] = last;
    }
    entry.at = -1;
  }

  /** Those that are on it now, in the order in which they came; who comes or goes later changes nothing of it. */
  items(): readonly Item[] {
    return this.#entries.toSorted((one, other) => one.number - other.number).map(({ item }) => item);
  }
}
