/** Updates a stored response with the headers of a 304 (RFC 9111, 4.3.4; `origin-fetch.ts`) or of a response to `HEAD` (4.3.5; `read.ts`). */
import { findHeader, withoutHeaders } from "@tributary/kit/http/raw-headers";
import type { CacheLookup, OriginResponse } from "./cache-request.ts";
import { hasStrongEtag } from "./conditional.ts";
import {
  type Entry,
  type ReceivedHead,
  type SentRead,
  endToEndHeaders,
  toEntry,
  toStoredHead,
  withDate,
} from "./entry.ts";
import type { InvalidationLog } from "./invalidation.ts";
import { readPolicy } from "./policy.ts";
import type { Store } from "./store.ts";

export interface FresheningOptions {
  /** See `SharedCacheOptions.targetedFields`. */
  readonly targetedFields: readonly string[];
  readonly store: Store;
  readonly invalidationLog: InvalidationLog;
}

/** The request whose response has the new headers. */
export interface FresheningRead extends Omit<ReceivedHead, "status" | "headers"> {
  readonly sent: SentRead;
}

/**
 * Replaces an entry in the store by one with the new headers (RFC 9111, 3.2). If an invalidation has outdated the response since its request was
 * sent, or the new headers forbid storing, the entry is only removed.
 * @returns a function that returns the updated entry, also if it is not stored.
 */
export function createFreshening(o: FresheningOptions) {
  const { store, invalidationLog, targetedFields } = o;

  return (entry: Entry, update: readonly string[], read: FresheningRead) => {
    // Without `Date` in the update, the stored `Date` would remain, and the response would count as old (RFC 9110, 6.6.1).
    const headers = freshenedHeaders(entry.headers, withDate(endToEndHeaders(update), read.receivedAtMs));
    const head = toStoredHead({ status: entry.status, headers, ...read }, targetedFields);
    // An entry is created even if it must not be stored any longer: the client that caused the validation gets it.
    const position = hasStrongEtag(entry.validators) ? read.sent.position : entry.position;
    const freshened = toEntry({ ...read.sent, position }, head ?? { ...entry, headers }, entry.body);
    const isCurrent = head !== undefined && !invalidationLog.isOutdated(read.sent, head.groups);
    store.remove(entry);
    return { entry: freshened, isStored: isCurrent && store.put(freshened) };
  };
}

/** Not replaced: headers about the body, which a 304 does not have (RFC 9111, 3.2 for `Content-Length`), and the ETag that it confirms. */
const aboutTheBody: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-length",
  "content-md5",
  "content-range",
  "etag",
]);

/** The stored headers, with each field of the update replaced as a whole (RFC 9111, 3.2). @param update from `endToEndHeaders`. */
export function freshenedHeaders(stored: readonly string[], update: readonly string[]): string[] {
  const updated = withoutHeaders(update, (name) => aboutTheBody.has(name));
  const names = new Set<string>();
  for (let at = 0; at < updated.length; at += 2) names.add((updated[at] ?? "").toLowerCase());
  // The `Age` of the update, or its absence, replaces the stored one (RFC 9111, 4.2.3).
  return [...withoutHeaders(stored, (name) => name === "age" || names.has(name)), ...updated];
}

export interface HeadValidationOptions extends FresheningOptions {
  readonly nowMs: () => number;
}

/**
 * Uses a response to `HEAD` for the stored response to `GET` (RFC 9111, 4.3.5): a 200 with the same validators and length freshens it, any other
 * 200 removes it; other statuses change nothing. Call it when the request is sent, and call the returned function with the response.
 */
export function createHeadValidation(o: HeadValidationOptions) {
  const freshen = createFreshening(o);

  return (lookup: CacheLookup) => {
    const { key, varyValueOf, heuristicSecondsMax, request } = lookup;
    const sent = o.invalidationLog.startRead(lookup);
    const requestedAtMs = o.nowMs();
    const wasAuthorized = request.headers["authorization"] !== undefined;

    return ({ status, headers }: OriginResponse): void => {
      const entry = o.store.find(key, varyValueOf);
      if (status !== 200 || entry?.status !== 200) return;
      const receivedAtMs = o.nowMs();
      // The response to a token may differ from the response for other clients (RFC 9111, 3.5).
      if (wasAuthorized && !readPolicy(headers, o.targetedFields, receivedAtMs).admitsAuthorized) return;
      if (!isSameRepresentation(headers, entry.headers)) return o.store.remove(entry);
      freshen(entry, headers, { sent, requestedAtMs, receivedAtMs, wasAuthorized, varyValueOf, heuristicSecondsMax });
    };
  };
}

const compared = ["etag", "last-modified", "content-length"];

/** Whether each of the compared headers that the `HEAD` response has is equal. At least one must be present, which the RFC does not require. */
function isSameRepresentation(received: readonly string[], stored: readonly string[]): boolean {
  const present = compared.filter((name) => findHeader(received, name) !== undefined);
  return present.length > 0 && present.every((name) => findHeader(received, name) === findHeader(stored, name));
}
