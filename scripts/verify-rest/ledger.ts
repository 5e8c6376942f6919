/** What writers were told is written, so that readers can be held against it. Numbers only grow. */
export interface Ledger {
  /** Takes a post that nobody else is writing to; undefined when all are being written to. */
  take(): WritablePost | undefined;
  /** The numbers that whoever asks from now on has to see, by post. */
  floors(): ReadonlyMap<string, Floor>;
}

export interface Floor {
  /** In the title. */
  readonly title: number;
  /** Of the newest comment; 0 without one. */
  readonly commentId: number;
}

export interface WritablePost {
  readonly id: string;
  /** Of what was last read or written. */
  readonly etag: string;
  readonly floor: Floor;
  /** Says what was written, and lets others write. */
  release(written?: { readonly etag?: string; readonly floor: Floor }): void;
}

export function createLedger(posts: readonly { readonly id: string; readonly etag: string }[]): Ledger {
  const entries = posts.map(({ id, etag }) => ({ id, etag, floor: { title: 0, commentId: 0 }, taken: false }));
  let next = 0;

  return {
    take() {
      for (let tried = 0; tried < entries.length; tried++) {
        const entry = entries[next++ % entries.length];
        if (!entry || entry.taken) continue;
        entry.taken = true;
        return {
          id: entry.id,
          etag: entry.etag,
          floor: entry.floor,
          release(written) {
            entry.taken = false;
            if (written) Object.assign(entry, written);
          },
        };
      }
      return undefined;
    },
    floors: () => new Map(entries.map(({ id, floor }) => [id, floor])),
  };
}
