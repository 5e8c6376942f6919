// The order of changes and reads in a process, for the gateway's entity cache and the REST proxy's response cache. If a name, such as a cache group,
// was noted after a read was sent to the origin, the response may be older than the change, and the cache must not store it.

export interface NoteLog {
  /** The position of the last note. A read gets it when it is sent. */
  readonly position: number;
  /** Notes the name at the next position. */
  note(name: string): void;
  /** Increments the position without a note, so that later reads differ from earlier ones. */
  advance(): void;
  /** Whether the name was noted after the position. Also true if the log does not reach back to the position. */
  isNotedAfter(position: number, name: string): boolean;
}

/**
 * A position is a number that only grows, not a time.
 * @param notesMax the maximum number of names. Each has only its last position; the name that was noted longest ago is evicted.
 */
export function createNoteLog({ notesMax }: { readonly notesMax: number }): NoteLog {
  /** The last position of each name. A Map iterates in the order of insertion, so the oldest note is the first. */
  const positionByName = new Map<string, number>();
  let position = 0;
  /** The position of the note that was evicted last. */
  let evictedUpTo = 0;

  function evictOldest(): void {
    const [oldest] = positionByName;
    if (oldest === undefined) return;
    const [oldestName, oldestPosition] = oldest;
    evictedUpTo = oldestPosition;
    positionByName.delete(oldestName);
  }

  return {
    get position() {
      return position;
    },
    note(name) {
      position++;
      // Deleted first, so that the name moves to the end of the order.
      positionByName.delete(name);
      positionByName.set(name, position);
      if (positionByName.size > notesMax) evictOldest();
    },
    advance() {
      position++;
    },
    isNotedAfter(readPosition, name) {
      if (readPosition < evictedUpTo) return true;
      const notedPosition = positionByName.get(name) ?? 0;
      return notedPosition > readPosition;
    },
  };
}
