import { matchesIfNoneMatch } from "../http/etag.ts";
import { parseHttpDate } from "../http/http-date.ts";
import type { RepresentationMetadata } from "./caching.ts";

type ReadHeader = (name: string) => string | undefined;

const conditionHeaders = ["if-none-match", "if-modified-since"];

/**
 * A Last-Modified counts whole seconds. Once its second is this long over, nothing of the same second can follow, and it says as much as
 * an ETag does (RFC 9110, 8.8.2.2); before that it is not said.
 */
const settledMs = 60_000;

export function hasConditions(header: ReadHeader): boolean {
  return conditionHeaders.some((name) => header(name) !== undefined);
}

/**
 * Evaluates the conditions of a GET or HEAD whose response would be 200, in the order of RFC 9110, 13.2.2. `If-Match` and `If-Unmodified-Since` are
 * ignored, as in the REST proxy: they protect changes (13.1.1, 13.1.4), and a 412 could not be shared by its cache.
 * @returns whether the response is 304.
 */
export function isNotModified(header: ReadHeader, shows: RepresentationMetadata, nowMs = Date.now()): boolean {
  const modifiedMs = toSettledMs(shows, nowMs);
  const ifNoneMatch = header("if-none-match");
  if (ifNoneMatch !== undefined) return matchesIfNoneMatch(ifNoneMatch, shows.etag);
  const modifiedSinceMs = parseDate(header("if-modified-since"));
  return modifiedMs !== undefined && modifiedSinceMs !== undefined && modifiedMs <= modifiedSinceMs;
}

/** Since when a change forbids that the thing has been changed; a date counts only without `If-Match` (RFC 9110, 13.1.4). */
export function readUnmodifiedSince(header: ReadHeader): Date | undefined {
  const ms = header("if-match") === undefined ? parseDate(header("if-unmodified-since")) : undefined;
  return ms === undefined ? undefined : new Date(ms);
}

/** `ETag`, and `Last-Modified` where it is true and settled. */
export function toValidatorHeaders(shows: RepresentationMetadata, nowMs = Date.now()): Readonly<Record<string, string>> {
  const modifiedMs = toSettledMs(shows, nowMs);
  if (modifiedMs === undefined) return { ETag: shows.etag };
  return { ETag: shows.etag, "Last-Modified": new Date(modifiedMs).toUTCString() };
}

/** In whole seconds, as the header says it. */
function toSettledMs({ lastModified }: RepresentationMetadata, nowMs: number): number | undefined {
  if (lastModified === undefined || nowMs - lastModified.getTime() < settledMs) return undefined;
  return Math.floor(lastModified.getTime() / 1_000) * 1_000;
}

function parseDate(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseHttpDate(text);
}
