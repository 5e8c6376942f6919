/** Invalidation of stored responses by writes (RFC 9111, 4.4). */
import { joinHeaderLines, listHeaderValues } from "@tributary/kit/http/raw-headers";
import type { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
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

/**
 * Call it when a read is sent to the origin.
 * @param validationSentAtMs the present time in milliseconds since 1970, if a client's `no-cache` causes the read. It then gets a position above those
 * of all earlier reads, so that `Store.put` does not replace its response by an earlier one.
 */
export function startRead(
  log: InvalidationLog,
  { origin, key }: { readonly origin: string; readonly key: string },
  validationSentAtMs?: number,
): SentRead {
  const position = validationSentAtMs === undefined ? log.position : log.mark();
  return { origin, key, position, validationSentAtMs };
}
