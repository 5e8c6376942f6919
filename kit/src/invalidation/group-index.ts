/** What a cache has stored, by cache group (RFC 9875). */
interface Grouped {
  readonly origin: string;
  readonly groups: readonly string[];
}

export class GroupIndex<Item extends Grouped> {
  readonly #byGroup = new Map<string, Set<Item>>();

  add(item: Item): void {
    for (const group of item.groups) {
      const members = this.#byGroup.get(group);
      if (members) members.add(item);
      else this.#byGroup.set(group, new Set([item]));
    }
  }

  delete(item: Item): void {
    for (const group of item.groups) {
      const members = this.#byGroup.get(group);
      members?.delete(item);
      if (members?.size === 0) this.#byGroup.delete(group);
    }
  }

  /** A copy. @param origin undefined: of any. */
  list(group: string, origin?: string): readonly Item[] {
    const members = [...(this.#byGroup.get(group) ?? [])];
    return origin === undefined ? members : members.filter((item) => item.origin === origin);
  }
}
