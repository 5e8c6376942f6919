import { matchesIfNoneMatch } from "../http/etag.ts";
import { parseHttpDate } from "../http/http-date.ts";
import type { RepresentationMetadata } from "./caching.ts";

type ReadHeader = (name: string) => string | undefined;

const conditionHeaders = ["if-none-match", "if-modified-since"];

/** The header has a resolution of one second: after this time no change of the same second follows (RFC 9110, 8.8.2.2). */
const lastModifiedDelayMs = 60_000;

export function hasConditions(header: ReadHeader): boolean {
  return conditionHeaders.some((name) => header(name) !== undefined);
}

/**
 * In the order of RFC 9110, 13.2.2. `If-Match` and `If-Unmodified-Since` are ignored, as in the REST proxy: they protect changes (13.1.1,
 * 13.1.4), and a 412 could not be shared by its cache.
 */
export function isNotModified(header: ReadHeader, metadata: RepresentationMetadata, nowMs = Date.now()): boolean {
  const ifNoneMatch = header("if-none-match");
  if (ifNoneMatch !== undefined) return matchesIfNoneMatch(ifNoneMatch, metadata.etag);
  const lastModifiedMs = toLastModifiedMs(metadata, nowMs);
  const modifiedSinceMs = parseDate(header("if-modified-since"));
  return lastModifiedMs !== undefined && modifiedSinceMs !== undefined && lastModifiedMs <= modifiedSinceMs;
}

/** Undefined if it is missing or invalid, or if the request has `If-Match` (RFC 9110, 13.1.4). */
export function readUnmodifiedSince(header: ReadHeader): Date | undefined {
  if (header("if-match") !== undefined) return undefined;
  const unmodifiedSinceMs = parseDate(header("if-unmodified-since"));
  return unmodifiedSinceMs === undefined ? undefined : new Date(unmodifiedSinceMs);
}

/** `Last-Modified` only if it is a strong validator. */
export function toValidatorHeaders(
  metadata: RepresentationMetadata,
  nowMs = Date.now(),
): Readonly<Record<string, string>> {
  const lastModifiedMs = toLastModifiedMs(metadata, nowMs);
  if (lastModifiedMs === undefined) return { ETag: metadata.etag };
  return { ETag: metadata.etag, "Last-Modified": new Date(lastModifiedMs).toUTCString() };
}

function toLastModifiedMs({ lastModified }: RepresentationMetadata, nowMs: number): number | undefined {
  if (lastModified === undefined) return undefined;
  const modifiedMs = lastModified.getTime();
  const isTooRecent = nowMs - modifiedMs < lastModifiedDelayMs;
  return isTooRecent ? undefined : Math.floor(modifiedMs / 1_000) * 1_000;
}

function parseDate(header: string | undefined): number | undefined {
  return header === undefined ? undefined : parseHttpDate(header);
}
