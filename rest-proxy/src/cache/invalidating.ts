import { joinHeaderLines, listHeaderLines } from "@tributary/kit/http/raw-headers";
import type { CacheObservation } from "./cache-observation.ts";
import { groupNames } from "./entry.ts";
import type { Flights } from "./flights.ts";
import type { InvalidationLog } from "./invalidation-log.ts";
import type { OriginResponse } from "./origin.ts";
import type { Store } from "./store.ts";

export interface Invalidated {
  readonly keys?: readonly string[];
  readonly groups?: readonly string[];
}

/** Methods that change nothing (RFC 9110, 9.2.1). One that is not known may change anything (RFC 9111, 4.4). */
const safe: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

export function isSafe(method: string): boolean {
  return safe.has(method);
}

/**
 * What an unsafe request has made outdated (RFC 9111, 4.4; RFC 9875, 3): its own URI, those of `Location` and `Content-Location`, and the groups it
 * names, when it was not refused. Without an answer nobody knows what happened, so its own URI counts as changed.
 */
export function invalidatedBy(
  answer: OriginResponse | undefined,
  key: string,
  keysOf: (reference: string, key: string) => readonly string[],
): Invalidated {
  if (!answer) return { keys: [key, ...keysOf(key, key)] };
  if (answer.status < 200 || answer.status >= 400) return {};
  const named = [
    ...listHeaderLines(answer.headers, "location"),
    ...listHeaderLines(answer.headers, "content-location"),
  ];
  const keys = [key, ...[key, ...named].flatMap((reference) => keysOf(reference, key))];
  return { keys: [...new Set(keys)], groups: groupNames(joinHeaderLines(answer.headers, "cache-group-invalidation")) };
}

export interface InvalidatingOptions {
  readonly store: Store;
  readonly flights: Flights;
  readonly log: InvalidationLog;
  readonly observe: (observation: CacheObservation) => void;
}

/** Forgets what is stored, and lets nothing that is under way become stored or joined. No group leads to another (RFC 9875, 2.2.1). */
export function createInvalidate({ store, flights, log, observe }: InvalidatingOptions) {
  return ({ keys = [], groups = [] }: Invalidated): void => {
    let entries = 0;
    for (const key of keys) {
      log.noteKey(key);
      flights.forget(key);
      entries += store.removeKey(key);
    }
    for (const group of groups) {
      log.noteGroup(group);
      entries += store.removeGroup(group);
    }
    if (entries > 0) observe({ kind: "invalidated", entries });
  };
}
