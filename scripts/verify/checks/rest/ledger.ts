// Records for reads-and-writes.ts what a read must at least return: the writes that were confirmed before the read started.

/** The confirmed writes of each post, against which reads are checked. All numbers only grow. */
export interface Ledger {
  /** Reserves a post for one writer; undefined if all posts are reserved. */
  reserve(): WritablePost | undefined;
  /** The state that every read that starts now must return at least, by post. */
  confirmed(): ReadonlyMap<string, ConfirmedState>;
}

export interface ConfirmedState {
  /** The number in the title. */
  readonly title: number;
  /** The id of the newest comment; 0 without comments. */
  readonly commentId: number;
}

export interface WritablePost {
  readonly id: string;
  /** The ETag of the post's current version. */
  readonly etag: string;
  readonly confirmed: ConfirmedState;
  /** Ends the reservation. @param written the new state; undefined if the write has failed. */
  release(written?: WrittenState): void;
}

interface WrittenState {
  /** Absent if the post itself has not changed. */
  readonly etag?: string;
  readonly confirmed: ConfirmedState;
}

export function createLedger(posts: readonly { readonly id: string; readonly etag: string }[]): Ledger {
  const entries = posts.map(({ id, etag }) => ({ id, etag, confirmed: { title: 0, commentId: 0 }, isReserved: false }));
  // The search for a free post continues after the last one that was reserved.
  let nextIndex = 0;

  return {
    reserve() {
      for (let tried = 0; tried < entries.length; tried++) {
        const entry = entries[nextIndex % entries.length];
        nextIndex++;
        if (!entry || entry.isReserved) continue;
        entry.isReserved = true;
        return {
          id: entry.id,
          etag: entry.etag,
          confirmed: entry.confirmed,
          release(written) {
            entry.isReserved = false;
            if (!written) return;
            entry.confirmed = written.confirmed;
            if (written.etag !== undefined) entry.etag = written.etag;
          },
        };
      }
      return undefined;
    },
    confirmed: () => new Map(entries.map(({ id, confirmed }) => [id, confirmed])),
  };
}
