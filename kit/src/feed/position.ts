import { parseSnapshot, type Snapshot } from "./snapshot.ts";

/** All changes that this snapshot includes are before it. */
export interface FeedPosition {
  /** One lifetime of the database's transaction numbers. Positions of different epochs cannot be compared. */
  readonly epoch: string;
  readonly snapshot: Snapshot;
}

export interface WritePosition {
  /** Undefined for a write in a session without `ensure_epoch()`, and in old records: no position includes it. */
  readonly epoch: string | undefined;
  readonly xid: number;
}

export function includesWrite(position: FeedPosition | undefined, { epoch, xid }: WritePosition): boolean {
  return position !== undefined && position.epoch === epoch && position.snapshot.includes(xid);
}

const epochSyntax = /^[0-9a-f-]{36}$/;
/** A double represents 15 digits exactly. */
const xidSyntax = /^\d{1,15}$/;

/** The `id` of an event. */
export function writeFeedPosition({ epoch, snapshot }: FeedPosition): string {
  return `${epoch}/${snapshot.text}`;
}

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

/** The header `write-position`. */
export function writeWritePosition({ epoch = "", xid }: WritePosition): string {
  return `${epoch}/${xid}`;
}

export function readWritePosition(text: string): WritePosition | undefined {
  const [epoch = "", xid = "", ...rest] = text.split("/");
  if (rest.length > 0) return undefined;
  if (!xidSyntax.test(xid)) return undefined;
  if (epoch === "") return { epoch: undefined, xid: Number(xid) };
  if (!epochSyntax.test(epoch)) return undefined;
  return { epoch, xid: Number(xid) };
}
