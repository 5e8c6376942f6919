// Conditional REST requests: evaluates `If-None-Match` and `If-Modified-Since` of a GET or HEAD, reads `If-Unmodified-Since` of a change, and
// writes the validators of a response. `If-Match` and `If-None-Match` of a change are in http/etag.ts.
import { matchesIfNoneMatch } from "../http/etag.ts";
import { parseHttpDate } from "../http/http-date.ts";
import type { RepresentationMetadata } from "./caching.ts";

type ReadHeader = (name: string) => string | undefined;

/** The conditions that can lead to a 304. */
const conditionHeaders = ["if-none-match", "if-modified-since"];

/**
 * The minimum age of a `Last-Modified`; a younger one is omitted. The header has a resolution of one second, and a row may change twice in a
 * second. After this time no change of the same second can follow, so the date is a strong validator (RFC 9110, 8.8.2.2).
 */
const lastModifiedDelayMs = 60_000;

/** Whether a GET has a condition that can lead to a 304. */
export function hasConditions(header: ReadHeader): boolean {
  return conditionHeaders.some((name) => header(name) !== undefined);
}

/**
 * Evaluates the conditions of a GET or HEAD whose response would be 200, in the order of RFC 9110, 13.2.2. `If-Match` and `If-Unmodified-Since` are
 * ignored, as in the REST proxy: they protect changes (13.1.1, 13.1.4), and a 412 could not be shared by its cache.
 * @returns whether the response is 304.
 */
export function isNotModified(header: ReadHeader, metadata: RepresentationMetadata, nowMs = Date.now()): boolean {
  const ifNoneMatch = header("if-none-match");
  if (ifNoneMatch !== undefined) return matchesIfNoneMatch(ifNoneMatch, metadata.etag);
  const lastModifiedMs = toLastModifiedMs(metadata, nowMs);
  const modifiedSinceMs = parseDate(header("if-modified-since"));
  return lastModifiedMs !== undefined && modifiedSinceMs !== undefined && lastModifiedMs <= modifiedSinceMs;
}

/** Reads `If-Unmodified-Since` of a change. Undefined if it is missing or invalid, or if the request has `If-Match` (RFC 9110, 13.1.4). */
export function readUnmodifiedSince(header: ReadHeader): Date | undefined {
  if (header("if-match") !== undefined) return undefined;
  const unmodifiedSinceMs = parseDate(header("if-unmodified-since"));
  return unmodifiedSinceMs === undefined ? undefined : new Date(unmodifiedSinceMs);
}

/** `ETag`, and `Last-Modified` if it is a strong validator. */
export function toValidatorHeaders(
  metadata: RepresentationMetadata,
  nowMs = Date.now(),
): Readonly<Record<string, string>> {
  const lastModifiedMs = toLastModifiedMs(metadata, nowMs);
  if (lastModifiedMs === undefined) return { ETag: metadata.etag };
  return { ETag: metadata.etag, "Last-Modified": new Date(lastModifiedMs).toUTCString() };
}

/** Milliseconds since 1970, rounded down to the second that the header can express; undefined if the header is omitted. */
function toLastModifiedMs({ lastModified }: RepresentationMetadata, nowMs: number): number | undefined {
  if (lastModified === undefined) return undefined;
  const modifiedMs = lastModified.getTime();
  const isTooRecent = nowMs - modifiedMs < lastModifiedDelayMs;
  return isTooRecent ? undefined : Math.floor(modifiedMs / 1_000) * 1_000;
}

/** Undefined if the header is missing or invalid. */
function parseDate(header: string | undefined): number | undefined {
  return header === undefined ? undefined : parseHttpDate(header);
}
