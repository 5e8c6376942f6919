// The order of changes and fills in a process: a response to a fill that began before a change may be older than it, and must not be stored.

/** A request whose response a cache may store. */
export interface Fill {
  /** The service that it was sent to. */
  readonly origin: string;
  /** Undefined in a cache whose keys are not invalidated. */
  readonly key?: string | undefined;
  /** In the order of the notes: a number that only grows, not a time. */
  readonly position: number;
}

export class InvalidationLog {
  readonly #notesMax: number;
  /** The last position of each name, the oldest first. */
  readonly #positionByName = new Map<string, number>();
  #position = 0;
  #lastGroupPosition = 0;
  /** A fill from before the note that was evicted last counts as outdated, which costs a request. */
  #evictedUpTo = 0;

  /** @param notesMax of names, some hundred bytes each; the one that was noted longest ago is evicted. */
  constructor({ notesMax }: { readonly notesMax: number }) {
    this.#notesMax = notesMax;
  }

  get position(): number {
    return this.#position;
  }

  /** @returns a position above that of every earlier fill. */
  mark(): number {
    return ++this.#position;
  }

  noteKey(key: string): void {
    this.#note(`key ${key}`);
  }

  /** @param origin undefined: of any. */
  noteGroup(group: string, origin = ""): void {
    this.#note(nameGroup(group, origin));
    this.#lastGroupPosition = this.#position;
  }

  noteOrigin(origin: string): void {
    this.#note(`origin ${origin}`);
  }

  /** The write has a response, or has failed after it may have been sent. */
  noteWrite(origin: string): void {
    this.#note(`write ${origin}`);
  }

  /** @param groups undefined while they are unknown: the invalidation of any group counts then. */
  isOutdated({ origin, key, position }: Fill, groups?: readonly string[]): boolean {
    if (key !== undefined && this.#isNotedAfter(position, `key ${key}`)) return true;
    if (this.#isNotedAfter(position, `origin ${origin}`)) return true;
    if (groups === undefined) return this.#lastGroupPosition > position;
    return groups.some(
      (group) =>
        this.#isNotedAfter(position, nameGroup(group, origin)) || this.#isNotedAfter(position, nameGroup(group, "")),
    );
  }

  /** A client that has the response of a later write must not join the fill. */
  precedesWrite({ origin, position }: Fill): boolean {
    return this.#isNotedAfter(position, `write ${origin}`);
  }

  #note(name: string): void {
    this.#position++;
    this.#positionByName.delete(name);
    this.#positionByName.set(name, this.#position);
    if (this.#positionByName.size <= this.#notesMax) return;
    for (const [oldestName, oldestPosition] of this.#positionByName) {
      this.#evictedUpTo = oldestPosition;
      this.#positionByName.delete(oldestName);
      return;
    }
  }

  #isNotedAfter(position: number, name: string): boolean {
    return position < this.#evictedUpTo || (this.#positionByName.get(name) ?? 0) > position;
  }
}

/** Group names contain no line break (RFC 9875, 2). */
function nameGroup(group: string, origin: string): string {
  return `group ${group}\n${origin}`;
}
