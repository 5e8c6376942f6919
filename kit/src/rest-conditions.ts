import { AppError } from "./errors.ts";
import { isListed } from "./etag.ts";
import type { Representation } from "./rest-caching.ts";

type ReadHeader = (name: string) => string | undefined;

const conditionHeaders = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];

/**
 * A Last-Modified counts whole seconds. Once its second is this long over, nothing of the same second can follow, and it says as much as
 * an ETag does (RFC 9110, 8.8.2.2); before that it is not said.
 */
const settledMs = 60_000;

export function hasConditions(header: ReadHeader): boolean {
  return conditionHeaders.some((name) => header(name) !== undefined);
}

/**
 * The conditions of a GET or HEAD for what would be answered with 200, in the order of RFC 9110, 13.2.2.
 * @returns whether the answer is 304.
 * @throws AppError PRECONDITION_FAILED.
 */
export function isNotModified(header: ReadHeader, shows: Representation, nowMs = Date.now()): boolean {
  const modifiedMs = toSettledMs(shows, nowMs);
  const ifMatch = header("if-match");
  const unmodifiedSinceMs = readHttpDate(header("if-unmodified-since"));
  if (ifMatch !== undefined) {
    if (!isListed(ifMatch, shows.etag, "strong")) throw changed();
  } else if (modifiedMs !== undefined && unmodifiedSinceMs !== undefined && modifiedMs > unmodifiedSinceMs) {
    throw changed();
  }
  const ifNoneMatch = header("if-none-match");
  if (ifNoneMatch !== undefined) return isListed(ifNoneMatch, shows.etag, "weak");
  const modifiedSinceMs = readHttpDate(header("if-modified-since"));
  return modifiedMs !== undefined && modifiedSinceMs !== undefined && modifiedMs <= modifiedSinceMs;
}

/** Since when a change forbids that the thing has been changed; a date counts only without `If-Match` (RFC 9110, 13.1.4). */
export function readUnmodifiedSince(header: ReadHeader): Date | undefined {
  const ms = header("if-match") === undefined ? readHttpDate(header("if-unmodified-since")) : undefined;
  return ms === undefined ? undefined : new Date(ms);
}

/** `ETag`, and `Last-Modified` where it is true and settled. */
export function toValidatorHeaders(shows: Representation, nowMs = Date.now()): Readonly<Record<string, string>> {
  const modifiedMs = toSettledMs(shows, nowMs);
  if (modifiedMs === undefined) return { ETag: shows.etag };
  return { ETag: shows.etag, "Last-Modified": new Date(modifiedMs).toUTCString() };
}

/** In whole seconds, as the header says it. */
function toSettledMs({ lastModified }: Representation, nowMs: number): number | undefined {
  if (lastModified === undefined || nowMs - lastModified.getTime() < settledMs) return undefined;
  return Math.floor(lastModified.getTime() / 1_000) * 1_000;
}

const imfFixdate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const rfc850Date = /^[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** The three forms of RFC 9110, 5.6.7. Whatever else is there does not count (13.1.3). */
function readHttpDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isOurs = imfFixdate.test(text) || rfc850Date.test(text);
  if (!isOurs && !asctimeDate.test(text)) return undefined;
  const ms = Date.parse(isOurs ? text : `${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}

function changed(): AppError {
  return new AppError("PRECONDITION_FAILED", "It is not what you have read any more. Read it again.");
}
