/** Conditional requests (RFC 9110, 13; RFC 9111, 4.3): those of clients, and those by which the cache validates an entry at the origin. */
import type { IncomingHttpHeaders } from "node:http";
import { isSameEtag, matchesIfNoneMatch } from "@tributary/kit/http/etag";
import { parseHttpDate } from "@tributary/kit/http/http-date";
import { findHeader } from "@tributary/kit/http/raw-headers";

/** The parts of a stored response that a client's conditions are compared with. */
export interface Validators {
  readonly etag: string | undefined;
  /**
   * `Last-Modified`. Without it, one second after `Date` (RFC 9111, 4.3.2), which has no fractions: a client may have got another response earlier in
   * the same second, before the resource changed.
   */
  readonly lastModifiedMs: number | undefined;
}

/** @param nowMs the time of receipt, see `parseHttpDate`. */
export function validatorsOf(headers: readonly string[], nowMs: number): Validators {
  const etag = findHeader(headers, "etag");
  const lastModified = findHeader(headers, "last-modified");
  if (lastModified !== undefined) return { etag, lastModifiedMs: parseHttpDate(lastModified, nowMs) };
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", nowMs);
  if (dateMs === undefined) return { etag, lastModifiedMs: undefined };
  return { etag, lastModifiedMs: dateMs + 1_000 };
}

/** Whether the client already has this response (stored, or just fetched) and gets a 304 (RFC 9110, 13.2.2; RFC 9111, 4.3.2). */
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

/** Conditions of a client; the cache removes them from its own requests (RFC 9111, 4.3.1). */
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

/** The headers that validate a stored response at the origin (RFC 9111, 4.3.1), as alternating names and values; empty if it has no validator. */
export function validationConditions(headers: readonly string[]): readonly string[] {
  const etag = findHeader(headers, "etag");
  const lastModified = findHeader(headers, "last-modified");
  const conditions: string[] = [];
  if (etag !== undefined) conditions.push("If-None-Match", etag);
  if (lastModified !== undefined) conditions.push("If-Modified-Since", lastModified);
  return conditions;
}

/**
 * Whether the stored response has a strong ETag. Only then a 304 proves that it is as new as the request, which a read after a write requires: a
 * date, with its resolution of one second, and a weak ETag do not prove it.
 */
export function hasStrongEtag({ etag }: Validators): boolean {
  return etag?.startsWith('"') ?? false;
}

/**
 * Whether a 304 is about the stored response (RFC 9111, 4.3.4). A strong ETag must be identical, a weak one must match by weak comparison. If the
 * 304 or the stored response has no ETag, the 304 is about the response that was validated.
 */
export function confirmsStored(update: readonly string[], stored: readonly string[]): boolean {
  const etag = findHeader(update, "etag");
  const storedEtag = findHeader(stored, "etag");
  if (etag === undefined || storedEtag === undefined) return true;
  return etag.startsWith("W/") ? isSameEtag(etag, storedEtag) : etag === storedEtag;
}
