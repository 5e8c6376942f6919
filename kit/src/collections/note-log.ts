// If a name, such as a cache group, was noted after a read was sent to the origin, the response may be older than the change, and is not cached.

export interface NoteLog {
  readonly position: number;
  note(name: string): void;
  advance(): void;
  /** Also true if the log does not reach back to the position. */
  isNotedAfter(position: number, name: string): boolean;
}

/** @param notesMax the name that was noted longest ago is evicted. */
export function createNoteLog({ notesMax }: { readonly notesMax: number }): NoteLog {
  const positionByName = new Map<string, number>();
  let position = 0;
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
