/** Updates a stored response with the headers of a 304 (RFC 9111, 4.3.4) or of a response to `HEAD` (4.3.5). */
import { findHeader, withoutHeaders } from "@tributary/kit/http/raw-headers";
import type { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
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
import { startRead } from "./invalidation.ts";
import { readPolicy } from "./policy.ts";
import type { Store } from "./store.ts";
import { varyFields } from "./vary.ts";

type VaryFields = ReturnType<typeof varyFields>;

export interface FresheningOptions {
  readonly store: Store;
  readonly invalidationLog: InvalidationLog;
}

export interface FresheningRead extends Omit<ReceivedHead, "status" | "headers"> {
  readonly sent: SentRead;
}

/** If a change has outdated the response, or the new headers forbid storing, the entry is only removed. */
export function createFreshening({ store, invalidationLog }: FresheningOptions) {
  return (entry: Entry, update: readonly string[], read: FresheningRead) => {
    // Without `Date` in the update, the stored `Date` would remain, and the response would count as old (RFC 9110, 6.6.1).
    const headers = freshenedHeaders(entry.headers, withDate(endToEndHeaders(update), read.receivedAtMs));
    const storableHead = toStoredHead({ status: entry.status, headers, ...read });
    // The client that caused the validation gets it even if it must not be stored any longer.
    const freshenedHead = storableHead ?? { ...entry, headers };
    // Only the same strong ETag proves that the response is as new as the update.
    const isProved = hasStrongEtag(entry.validators) && findHeader(update, "etag") === entry.validators.etag;
    const position = isProved ? read.sent.position : entry.position;
    const freshened = toEntry({ ...read.sent, position }, freshenedHead, entry.body);
    const isCurrent = storableHead !== undefined && !invalidationLog.isOutdated(read.sent, storableHead.groups);
    const mayStore = isCurrent && (isProved || !entry.isInvalidated);
    store.remove(entry);
    const isStored = mayStore && store.put(freshened);
    return { entry: freshened, isStored };
  };
}

/** Not replaced: headers about the body, which a 304 does not have (RFC 9111, 3.2), and the ETag that it confirms. */
const unreplacedHeaders: ReadonlySet<string> = new Set([
  "content-digest",
  "content-encoding",
  "content-length",
  "content-md5",
  "content-range",
  "etag",
  "repr-digest",
]);

/**
 * Each field of the update is replaced as a whole (RFC 9111, 3.2), except that `Vary` keeps the stored names: with fewer of them the response would be
 * for more clients than that which it was selected for, since a 304 may lack `Vary`, or have only what a proxy adds.
 */
export function freshenedHeaders(stored: readonly string[], update: readonly string[]): string[] {
  const replacing = withoutHeaders(update, (name) => unreplacedHeaders.has(name));
  const keptFields = listFieldsToKeep(varyFields(stored), varyFields(update));
  if (keptFields.length > 0) replacing.push("Vary", keptFields.join(", "));
  const replacedNames = new Set<string>();
  for (let index = 0; index < replacing.length; index += 2) replacedNames.add((replacing[index] ?? "").toLowerCase());
  // The `Age` of the update, or its absence, replaces the stored one (RFC 9111, 4.2.3).
  const remaining = withoutHeaders(stored, (name) => name === "age" || replacedNames.has(name));
  return [...remaining, ...replacing];
}

function listFieldsToKeep(stored: VaryFields, updated: VaryFields): readonly string[] {
  if (stored === "*" || updated === "*") return [];
  return stored.filter((field) => !updated.includes(field));
}

export interface HeadValidationOptions extends FresheningOptions {
  readonly nowMs: () => number;
}

/** RFC 9111, 4.3.5: a 200 with the same validators and length freshens the stored response, any other 200 removes it. */
export function createHeadValidation(options: HeadValidationOptions) {
  const { store, invalidationLog, nowMs } = options;
  const freshen = createFreshening(options);

  return (lookup: CacheLookup) => {
    const { key, varyValueOf, heuristicSecondsMax, request } = lookup;
    const sent = startRead(invalidationLog, lookup);
    const requestedAtMs = nowMs();
    const wasAuthorized = request.headers["authorization"] !== undefined;

    return ({ status, headers }: OriginResponse): void => {
      const entry = store.find(key, varyValueOf);
      if (status !== 200 || entry?.status !== 200) return;
      const receivedAtMs = nowMs();
      // The response to a token may differ from the response for other clients (RFC 9111, 3.5).
      if (wasAuthorized && !readPolicy(headers, receivedAtMs).admitsAuthorized) return;
      if (!isSameRepresentation(headers, entry.headers)) return store.remove(entry);
      freshen(entry, headers, { sent, requestedAtMs, receivedAtMs, wasAuthorized, varyValueOf, heuristicSecondsMax });
    };
  };
}

const comparedHeaders = ["etag", "last-modified", "content-length"];

/** At least one must be present, which the RFC does not require. */
function isSameRepresentation(received: readonly string[], stored: readonly string[]): boolean {
  const present = comparedHeaders.filter((name) => findHeader(received, name) !== undefined);
  return present.length > 0 && present.every((name) => findHeader(received, name) === findHeader(stored, name));
}
