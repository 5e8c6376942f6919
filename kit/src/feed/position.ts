// Positions in a change feed and their text forms: of events (`id` and `Last-Event-ID`), and of writes (the header `write-position`).
import { parseSnapshot, type Snapshot } from "./snapshot.ts";

/** A point in a service's feed: all changes that this snapshot includes are before it. */
export interface FeedPosition {
  /** A UUID for one lifetime of the database's transaction numbers. Positions of different epochs cannot be compared. */
  readonly epoch: string;
  readonly snapshot: Snapshot;
}

/** Where one committed write is in the feed of its service. */
export interface WritePosition {
  /**
   * Undefined for a write in a session without `ensure_epoch()`, such as one that a proxy of connections moved to another primary, and in
   * records of former releases. `includesWrite` is false for such a write.
   */
  readonly epoch: string | undefined;
  /** The number of the write's transaction (`xid8`). */
  readonly xid: number;
}

/** Whether everything up to the position includes the write. */
export function includesWrite(position: FeedPosition | undefined, { epoch, xid }: WritePosition): boolean {
  return position !== undefined && position.epoch === epoch && position.snapshot.includes(xid);
}

const epochSyntax = /^[0-9a-f-]{36}$/;
/** At most 15 digits, which a double represents exactly. */
const xidSyntax = /^\d{1,15}$/;

/** The text of a position in the feed: the `id` of an event. */
export function writeFeedPosition({ epoch, snapshot }: FeedPosition): string {
  return `${epoch}/${snapshot.text}`;
}

/** @returns undefined for a text that `writeFeedPosition` does not write. */
export function readFeedPosition(text: string): FeedPosition | undefined {
  const [epoch = "", snapshot = "", ...rest] = text.split("/");
  if (rest.length > 0) return undefined;
  if (!epochSyntax.test(epoch)) return undefined;
  try {
    return { epoch, snapshot: parseSnapshot(snapshot) };
  } catch {
    return undefined;
  }
}

/** The text of a write's position, in the header by which a service passes it to the gateway or the REST proxy. */
export function writeWritePosition({ epoch = "", xid }: WritePosition): string {
  return `${epoch}/${xid}`;
}

/** @returns undefined for a text that `writeWritePosition` does not write. */
export function readWritePosition(text: string): WritePosition | undefined {
  const [epoch = "", xid = "", ...rest] = text.split("/");
  if (rest.length > 0) return undefined;
  if (!xidSyntax.test(xid)) return undefined;
  if (epoch === "") return { epoch: undefined, xid: Number(xid) };
  if (!epochSyntax.test(epoch)) return undefined;
  return { epoch, xid: Number(xid) };
}
