/** Invalidation of stored responses by writes (RFC 9111, 4.4), and of reads that were sent to the origin before a write settled. */
import { joinHeaderLines, listHeaderLines } from "@tributary/kit/http/raw-headers";
import type { CacheObservation, OriginResponse } from "./cache-request.ts";
import { groupNames, type SentRead } from "./entry.ts";
import type { Store } from "./store.ts";

/** What is invalid. */
export interface Invalidation {
  readonly keys?: readonly string[];
  readonly groups?: readonly string[];
}

/** Methods that change nothing (RFC 9110, 9.2.1). An unknown method may change anything (RFC 9111, 4.4). */
const safe: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

export function isSafe(method: string): boolean {
  return safe.has(method);
}

/**
 * What an unsafe request invalidates (RFC 9111, 4.4; RFC 9875, 3): unless it was rejected, its URI, the URIs of `Location` and `Content-Location`,
 * and the groups that the response names. Without a response its URI counts as changed.
 */
export function invalidatedBy(
  response: OriginResponse | undefined,
  key: string,
  keysOf: (reference: string, key: string) => readonly string[],
): Invalidation {
  if (!response) return { keys: [key, ...keysOf(key, key)] };
  const { status, headers } = response;
  if (status < 200 || status >= 400) return {};
  const named = [...listHeaderLines(headers, "location"), ...listHeaderLines(headers, "content-location")];
  const keys = [key, ...[key, ...named].flatMap((reference) => keysOf(reference, key))];
  return { keys: [...new Set(keys)], groups: groupNames(joinHeaderLines(headers, "cache-group-invalidation")) };
}

export interface InvalidateOptions {
  readonly store: Store;
  readonly sharedFetches: { stopJoining(key: string): void };
  readonly log: InvalidationLog;
  readonly observe: (observation: CacheObservation) => void;
}

/**
 * Removes stored responses, and keeps reads in flight from being stored or joined. Invalidating a group does not invalidate the other groups of
 * its responses (RFC 9875, 2.2.1).
 */
export function createInvalidate({ store, sharedFetches, log, observe }: InvalidateOptions) {
  return ({ keys = [], groups = [] }: Invalidation): void => {
    let entries = 0;
    for (const key of keys) {
      log.noteKey(key);
      sharedFetches.stopJoining(key);
      entries += store.removeKey(key);
    }
    for (const group of groups) {
      log.noteGroup(group);
      entries += store.removeGroup(group);
    }
    if (entries > 0) observe({ kind: "invalidated", entries });
  };
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
 * A read that was sent before a write and answered after it may return the state before the write, and would be stored as fresh. So each
 * invalidation and each settled write is noted with its position. At most `notesMax` notes; a read sent before an evicted note counts as
 * outdated, which costs a request and never returns a stale response.
 */
export function createInvalidationLog({ notesMax }: { readonly notesMax: number }): InvalidationLog {
  const notes = new Map<string, number>();
  let position = 0;
  let evictedUpTo = 0;
  let lastGroupAt = 0;

  function note(name: string): void {
    notes.delete(name);
    notes.set(name, ++position);
    if (notes.size <= notesMax) return;
    for (const [oldest, at] of notes) {
      evictedUpTo = at;
      return void notes.delete(oldest);
    }
  }

  const isSince = (sentAt: number, name: string) => sentAt < evictedUpTo || (notes.get(name) ?? 0) > sentAt;
  return {
    placeRead({ origin, key }, validationSentAtMs) {
      if (validationSentAtMs !== undefined) position++;
      return { origin, key, sentAt: position, validationSentAtMs };
    },
    noteKey: (key) => note(`key ${key}`),
    noteGroup(group) {
      note(`group ${group}`);
      lastGroupAt = position;
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
