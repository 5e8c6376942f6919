export interface InvalidationLog {
  /** The moment, to be kept with what is asked for now. */
  readonly now: number;
  noteKey(key: string): void;
  noteGroup(group: string): void;
  /** Whether what was asked for at that moment may be older than a change: nobody may store or join it then. Without groups, any group counts. */
  isOutdated(askedAt: number, key: string, groups?: readonly string[]): boolean;
}

/**
 * A read that began before a write and ends after it brings what was before, and would stay. So each invalidation is noted with its place in order.
 * At most `notesMax` notes; what was asked for before a forgotten one counts as outdated, which costs a read and never a wrong answer.
 */
export function createInvalidationLog({ notesMax }: { readonly notesMax: number }): InvalidationLog {
  const notes = new Map<string, number>();
  let now = 0;
  let forgottenAt = 0;
  let lastGroupAt = 0;

  function note(name: string): void {
    notes.delete(name);
    notes.set(name, ++now);
    if (notes.size <= notesMax) return;
    for (const [oldest, at] of notes) {
      forgottenAt = at;
      return void notes.delete(oldest);
    }
  }

  const isSince = (askedAt: number, name: string) => (notes.get(name) ?? 0) > askedAt;
  return {
    get now() {
      return now;
    },
    noteKey: (key) => note(`key ${key}`),
    noteGroup(group) {
      note(`group ${group}`);
      lastGroupAt = now;
    },
    isOutdated(askedAt, key, groups) {
      if (askedAt < forgottenAt || isSince(askedAt, `key ${key}`)) return true;
      return groups ? groups.some((group) => isSince(askedAt, `group ${group}`)) : lastGroupAt > askedAt;
    },
  };
}
