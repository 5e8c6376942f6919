import type { IncomingHttpHeaders } from "node:http";
import { isSameEtag, matchesIfNoneMatch } from "@tributary/kit/http/etag";
import { findHeader } from "@tributary/kit/http/raw-headers";
import { parseHttpDate } from "@tributary/kit/http/http-date";

/** What of a stored answer conditions are held against. */
export interface Validators {
  readonly etag: string | undefined;
  /**
   * `Last-Modified`, or the end of the second that `Date` names where there is none (RFC 9111, 4.3.2): within that second it may have changed once
   * more, after somebody else got the answer before it.
   */
  readonly lastModifiedMs: number | undefined;
}

export function validatorsOf(headers: readonly string[], nowMs: number): Validators {
  const etag = findHeader(headers, "etag");
  const lastModified = findHeader(headers, "last-modified");
  if (lastModified !== undefined) return { etag, lastModifiedMs: parseHttpDate(lastModified, nowMs) };
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", nowMs);
  return { etag, lastModifiedMs: dateMs === undefined ? undefined : dateMs + 1_000 };
}

/** Whether the client has what is stored, so that a 304 is the answer (RFC 9110, 13.2.2; RFC 9111, 4.3.2). */
export function isNotModified(
  request: IncomingHttpHeaders,
  { etag, lastModifiedMs }: Validators,
  nowMs: number,
): boolean {
  const noneMatch = request["if-none-match"];
  if (noneMatch !== undefined) {
    return etag === undefined ? noneMatch.trim() === "*" : matchesIfNoneMatch(noneMatch, etag);
  }
  const since = request["if-modified-since"];
  if (since === undefined || lastModifiedMs === undefined) return false;
  const sinceMs = parseHttpDate(since, nowMs);
  return sinceMs !== undefined && lastModifiedMs <= sinceMs;
}

/** Conditions of a request; a cache that asks for itself sends none of the client's (RFC 9111, 4.3.1). */
const conditions: ReadonlySet<string> = new Set([
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "range",
]);

export function isCondition(name: string): boolean {
  return conditions.has(name);
}

/** The conditions by which the origin may say that a stored answer still holds (RFC 9111, 4.3.1); none where it has no validator. */
export function validationOf(headers: readonly string[]): readonly string[] {
  const etag = findHeader(headers, "etag");
  const lastModified = findHeader(headers, "last-modified");
  return [
    ...(etag === undefined ? [] : ["If-None-Match", etag]),
    ...(lastModified === undefined ? [] : ["If-Modified-Since", lastModified]),
  ];
}

/**
 * Whether a 304 speaks of the stored answer (RFC 9111, 4.3.4): a strong tag has to be the same one, a weak one the same but for its weakness; one
 * without a tag has the validator that was asked with.
 */
export function speaksOf(update: readonly string[], stored: readonly string[]): boolean {
  const etag = findHeader(update, "etag");
  const held = findHeader(stored, "etag");
  if (etag === undefined || held === undefined) return true;
  return etag.startsWith("W/") ? isSameEtag(etag, held) : etag === held;
}
