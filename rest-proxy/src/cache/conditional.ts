/** Conditional requests (RFC 9110, 13; RFC 9111, 4.3): of clients, and of the cache. They are only compared here; write-response.ts and
 * origin-fetch.ts respond. */
import type { IncomingHttpHeaders } from "node:http";
import { isSameEtag, matchesIfNoneMatch } from "@tributary/kit/http/etag";
import { parseHttpDate } from "@tributary/kit/http/http-date";
import { findHeader } from "@tributary/kit/http/raw-headers";

export interface Validators {
  readonly etag: string | undefined;
  /** Without `Last-Modified`, one second after `Date` (RFC 9111, 4.3.2): the resource may have changed later in the same second. */
  readonly lastModifiedMs: number | undefined;
}

export function validatorsOf(headers: readonly string[], nowMs: number): Validators {
  const etag = findHeader(headers, "etag");
  const lastModified = findHeader(headers, "last-modified");
  if (lastModified !== undefined) return { etag, lastModifiedMs: parseHttpDate(lastModified, nowMs) };
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", nowMs);
  if (dateMs === undefined) return { etag, lastModifiedMs: undefined };
  return { etag, lastModifiedMs: dateMs + 1_000 };
}

/** Whether the client gets a 304 (RFC 9110, 13.2.2; RFC 9111, 4.3.2). */
export function isNotModified(
  request: IncomingHttpHeaders,
  { etag, lastModifiedMs }: Validators,
  nowMs: number,
): boolean {
  const noneMatch = request["if-none-match"];
  if (noneMatch !== undefined) {
    // A response without an ETag matches only `*`. `If-Modified-Since` does not count beside `If-None-Match`.
    if (etag === undefined) return noneMatch.trim() === "*";
    return matchesIfNoneMatch(noneMatch, etag);
  }
  const modifiedSince = request["if-modified-since"];
  if (modifiedSince === undefined || lastModifiedMs === undefined) return false;
  const sinceMs = parseHttpDate(modifiedSince, nowMs);
  return sinceMs !== undefined && lastModifiedMs <= sinceMs;
}

const conditionNames: ReadonlySet<string> = new Set([
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "range",
]);

export function isCondition(name: string): boolean {
  return conditionNames.has(name);
}

/** RFC 9111, 4.3.1. Empty without a validator. */
export function validationConditions(headers: readonly string[]): readonly string[] {
  const etag = findHeader(headers, "etag");
  const lastModified = findHeader(headers, "last-modified");
  const conditions: string[] = [];
  if (etag !== undefined) conditions.push("If-None-Match", etag);
  if (lastModified !== undefined) conditions.push("If-Modified-Since", lastModified);
  return conditions;
}

/** Only with a strong ETag, a 304 proves that the response is as new as the request: a date has a resolution of one second. */
export function hasStrongEtag({ etag }: Validators): boolean {
  return etag?.startsWith('"') ?? false;
}

/** Whether a 304 is about the stored response (RFC 9111, 4.3.4): without an ETag in one of them, it is. */
export function confirmsStored(update: readonly string[], stored: readonly string[]): boolean {
  const etag = findHeader(update, "etag");
  const storedEtag = findHeader(stored, "etag");
  if (etag === undefined || storedEtag === undefined) return true;
  return etag.startsWith("W/") ? isSameEtag(etag, storedEtag) : etag === storedEtag;
}
