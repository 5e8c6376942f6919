/** Invalidation of stored responses by writes (RFC 9111, 4.4), and of reads that were sent to the origin before a write settled. */
import { createNoteLog } from "@tributary/kit/collections/note-log";
import { joinHeaderLines, listHeaderValues } from "@tributary/kit/http/raw-headers";
import type { CacheObservation, OriginResponse } from "./cache-request.ts";
import { groupNames, type SentRead } from "./entry.ts";
import type { Store } from "./store.ts";

/** What changed: the responses with these keys, and those in these cache groups. */
export interface Invalidation {
  readonly keys?: readonly string[];
  readonly groups?: readonly string[];
  /** Only responses of this origin are invalidated by `groups`. Default: those of all origins. */
  readonly origin?: string;
}

/** Methods that change nothing (RFC 9110, 9.2.1). An unknown method may change anything (RFC 9111, 4.4). */
const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

export function isSafe(method: string): boolean {
  return safeMethods.has(method);
}

/**
 * What an unsafe request invalidates (RFC 9111, 4.4; RFC 9875, 3): its key, the keys of `Location` and `Content-Location`, and the groups in
 * `Cache-Group-Invalidation`. A request with an error response (4xx, 5xx) invalidates nothing.
 * @param response undefined if there is none: the request may have been processed, so its key is invalidated.
 * @param key of the request.
 * @param keysOf the keys of the resource that a URL names, such as those of its other versions. `key` resolves a relative URL.
 */
export function invalidatedBy(
  response: OriginResponse | undefined,
  key: string,
  keysOf: (reference: string, key: string) => readonly string[],
): Invalidation {
  if (!response) return { keys: [key, ...keysOf(key, key)] };
  const { status, headers } = response;
  if (status < 200 || status >= 400) return {};
  const locations = listHeaderValues(headers, "location");
  const contentLocations = listHeaderValues(headers, "content-location");
  const references = [key, ...locations, ...contentLocations];
  const keys = new Set([key, ...references.flatMap((reference) => keysOf(reference, key))]);
  const groups = groupNames(joinHeaderLines(headers, "cache-group-invalidation"));
  return { keys: [...keys], groups };
}

export interface InvalidateOptions {
  readonly store: Store;
  readonly invalidationLog: InvalidationLog;
  readonly observe: (observation: CacheObservation) => void;
}

export interface Invalidate {
  /**
   * Invalidates stored responses: those with a strong ETag remain for validation, others are removed. The responses to reads in flight are not
   * stored, and no further request joins these reads, because `InvalidationLog.isOutdated` is true for them. Invalidating a group does not invalidate
   * the other groups of its responses (RFC 9875, 2.2.1).
   */
  invalidate(what: Invalidation): void;
  /**
   * Does the same for all responses of an origin, and removes all stored ones: after a crash of its database or a restored backup, an ETag may
   * identify another state than before, so a 304 proves nothing.
   */
  invalidateOrigin(origin: string): void;
}

export function createInvalidate({ store, invalidationLog, observe }: InvalidateOptions): Invalidate {
  /** @param entries the number of entries that were valid before. */
  const report = (entries: number) => {
    if (entries > 0) observe({ kind: "invalidated", entries });
  };

  function invalidate({ keys = [], groups = [], origin }: Invalidation): void {
    let invalidatedEntries = 0;
    for (const key of keys) {
      invalidationLog.noteKey(key);
      invalidatedEntries += store.invalidateKey(key);
    }
    // A note has no origin: a read of another origin that has an equal group counts as outdated too, which costs a request.
    for (const group of groups) {
      invalidationLog.noteGroup(group);
      invalidatedEntries += store.invalidateGroup(group, origin);
    }
    report(invalidatedEntries);
  }

  return {
    invalidate,
    invalidateOrigin(origin) {
      invalidationLog.noteOrigin(origin);
      report(store.removeOrigin(origin));
    },
  };
}

export interface InvalidationLog {
  /**
   * Call it when a read is sent to the origin: gives the read its position in the order of the notes.
   * @param validationSentAtMs the present time in milliseconds since 1970, if a client's `no-cache` causes the read; otherwise undefined. Other
   * reads have the position of the last note, so two of them can have the same; such a read gets a new one, above those of all earlier reads, so that
   * `Store.put` does not replace its response by the response to an earlier read.
   */
  startRead(read: { readonly origin: string; readonly key: string }, validationSentAtMs?: number): SentRead;
  /** Marks the present: `isSentAfter` (entry.ts) is true for reads that are sent from now on, and false for all earlier ones. */
  mark(): number;
  noteKey(key: string): void;
  noteGroup(group: string): void;
  /** A write to the origin has settled: it has a response, or has failed after it may have been sent. */
  noteWrite(origin: string): void;
  /** Every response of the origin may be outdated. */
  noteOrigin(origin: string): void;
  /**
   * Whether an invalidation that was noted after the read was sent concerns its response, which must not be stored then.
   * @param groups of the response. Undefined while they are unknown: the invalidation of any group counts then.
   */
  isOutdated(read: SentRead, groups?: readonly string[]): boolean;
  /** Whether a write to the origin has settled after the read was sent: a client that has the write's response must not join the read. */
  precedesWrite(read: SentRead): boolean;
}

/**
 * The response to a read that was sent before a write may have the state before the write, and must not be stored as fresh after it. Therefore the
 * log notes each invalidation and each settled write with the next position, a number that only grows. It has at most `notesMax` notes; a read that
 * was sent before an evicted note counts as outdated and as preceding a write, which costs a request.
 */
export function createInvalidationLog({ notesMax }: { readonly notesMax: number }): InvalidationLog {
  const log = createNoteLog({ notesMax });
  let lastGroupPosition = 0;

  return {
    startRead({ origin, key }, validationSentAtMs) {
      if (validationSentAtMs !== undefined) log.advance();
      return { origin, key, position: log.position, validationSentAtMs };
    },
    mark() {
      log.advance();
      return log.position;
    },
    noteKey: (key) => log.note(`key ${key}`),
    noteGroup(group) {
      log.note(`group ${group}`);
      lastGroupPosition = log.position;
    },
    noteWrite: (origin) => log.note(`write ${origin}`),
    noteOrigin: (origin) => log.note(`origin ${origin}`),
    isOutdated({ origin, key, position }, groups) {
      if (log.isNotedAfter(position, `key ${key}`)) return true;
      if (log.isNotedAfter(position, `origin ${origin}`)) return true;
      if (groups === undefined) return lastGroupPosition > position;
      return groups.some((group) => log.isNotedAfter(position, `group ${group}`));
    },
    precedesWrite: ({ origin, position }) => log.isNotedAfter(position, `write ${origin}`),
  };
}
