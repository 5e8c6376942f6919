import { findHeader } from "@tributary/kit/http/raw-headers";
import { type AnsweredHead, type Entry, type HeadOptions, toEntry, toStoredHead } from "./entry.ts";
import type { InvalidationLog, SentRead } from "./invalidation-log.ts";
import type { Store } from "./store.ts";
import { freshenedHeaders, storedHeaders } from "./stored-headers.ts";

export interface FresheningOptions extends HeadOptions {
  readonly store: Store;
  readonly log: InvalidationLog;
}

/** The exchange that brought the new headers. */
export interface Freshened extends Omit<AnsweredHead, "status" | "headers"> {
  readonly sent: SentRead;
}

/** Puts new headers of a stored answer in place of its old ones (RFC 9111, 3.2), unless it was taken back meanwhile. */
export function createFreshening(o: FresheningOptions) {
  const { store, log } = o;

  return (entry: Entry, update: readonly string[], about: Freshened) => {
    const headers = freshenedHeaders(entry.headers, withDate(storedHeaders(update), about.cameMs));
    const head = toStoredHead({ status: entry.status, headers, ...about }, o);
    // What may not be kept any longer is still what this client asked for.
    const renewed = toEntry(about.sent, head ?? { ...entry, headers }, entry.body);
    const isCurrent = head !== undefined && !log.isOutdated(about.sent, head.groups);
    store.remove(entry);
    return { entry: renewed, isStored: isCurrent && store.put(renewed) };
  };
}

/** One without a date is dated by when it came (RFC 9110, 6.6.1), or the stored one would make it look old. */
function withDate(headers: string[], cameMs: number): string[] {
  return findHeader(headers, "date") === undefined ? [...headers, "Date", new Date(cameMs).toUTCString()] : headers;
}
