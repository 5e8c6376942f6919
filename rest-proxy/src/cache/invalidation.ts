/** Invalidation of stored responses by writes (RFC 9111, 4.4). */
import { joinHeaderLines, listHeaderValues } from "@tributary/kit/http/raw-headers";
import type { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
import type { CacheObservation, OriginResponse } from "./cache-request.ts";
import { groupNames, type SentRead } from "./entry.ts";
import type { Store } from "./store.ts";

export interface Invalidation {
  readonly keys?: readonly string[];
  readonly groups?: readonly string[];
  /** Limits `groups`. Default: those of all origins. */
  readonly origin?: string;
}

/** Methods that change nothing (RFC 9110, 9.2.1). An unknown method may change anything (RFC 9111, 4.4). */
const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

export function isSafe(method: string): boolean {
  return safeMethods.has(method);
}

/** What an unsafe request invalidates (RFC 9111, 4.4; RFC 9875, 3): nothing with an error response, its key without a response. */
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

/** Notes each change too: the responses to fills that were sent before it are neither stored nor joined any more. */
export function createInvalidate({ store, invalidationLog, observe }: InvalidateOptions) {
  const report = (entries: number) => {
    if (entries > 0) observe({ kind: "invalidated", entries });
  };
  return {
    /** Invalidating a group does not invalidate the other groups of its responses (RFC 9875, 2.2.1). */
    invalidate({ keys = [], groups = [], origin }: Invalidation): void {
      let invalidatedEntries = 0;
      for (const key of keys) {
        invalidationLog.noteKey(key);
        invalidatedEntries += store.invalidateKey(key);
      }
      for (const group of groups) {
        invalidationLog.noteGroup(group, origin);
        invalidatedEntries += store.invalidateGroup(group, origin);
      }
      report(invalidatedEntries);
    },
    invalidateOrigin(origin: string): void {
      invalidationLog.noteOrigin(origin);
      report(store.removeOrigin(origin));
    },
  };
}

/** @param validationSentAtMs now, if a client's `no-cache` causes the read: its response must not be replaced by an earlier one. */
export function startRead(
  log: InvalidationLog,
  { origin, key }: { readonly origin: string; readonly key: string },
  validationSentAtMs?: number,
): SentRead {
  const position = validationSentAtMs === undefined ? log.position : log.mark();
  return { origin, key, position, validationSentAtMs };
}
