/** A read as it was sent to the origin, placed in the order of invalidations and writes. */
export interface SentRead {
  readonly origin: string;
  readonly key: string;
  readonly sentAt: number;
  /** When it was sent, in milliseconds since 1970, if a client's `no-cache` caused it. */
  readonly validationSentAtMs?: number | undefined;
}

export interface InvalidationLog {
  /**
   * Places a read that is sent now.
   * @param validationSentAtMs the time, if a client's `no-cache` causes the read: responses to all earlier reads then count as older than its own.
   */
  placeRead(read: { readonly origin: string; readonly key: string }, validationSentAtMs?: number): SentRead;
  noteKey(key: string): void;
  noteGroup(group: string): void;
  /** A write to the origin has settled. */
  noteWrite(origin: string): void;
  /** A write got no response: it may have changed anything that the origin serves. */
  noteLostWrite(origin: string): void;
  /** Whether the response may be older than a change: it must not be stored then. Without groups, any group counts. */
  isOutdated(read: SentRead, groups?: readonly string[]): boolean;
  /** Whether a write to the origin has settled since: a client that has its response must not join the read. */
  precedesWrite(read: SentRead): boolean;
}

/**
 * A read sent before a write and answered after it may bring what was before the write, and would be stored as fresh. So each invalidation and
 * each settled write is noted with its place in order. At most `notesMax` notes; a read sent before a forgotten one counts as outdated, which
 * costs a request and never brings a stale response.
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

  const isSince = (sentAt: number, name: string) => sentAt < forgottenAt || (notes.get(name) ?? 0) > sentAt;
  return {
    placeRead({ origin, key }, validationSentAtMs) {
      if (validationSentAtMs !== undefined) now++;
      return { origin, key, sentAt: now, validationSentAtMs };
    },
    noteKey: (key) => note(`key ${key}`),
    noteGroup(group) {
      note(`group ${group}`);
      lastGroupAt = now;
    },
    noteWrite: (origin) => note(`write ${origin}`),
    noteLostWrite: (origin) => note(`lost write ${origin}`),
    isOutdated({ origin, key, sentAt }, groups) {
      if (isSince(sentAt, `key ${key}`) || isSince(sentAt, `lost write ${origin}`)) return true;
      return groups ? groups.some((group) => isSince(sentAt, `group ${group}`)) : lastGroupAt > sentAt;
    },
    precedesWrite: ({ origin, sentAt }) => isSince(sentAt, `write ${origin}`),
  };
}
