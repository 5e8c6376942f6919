import { randomUUID } from "node:crypto";
import { findHeader } from "./raw-headers.ts";

const requestIdPattern = /^[\w.:-]{1,128}$/;

export function readRequestId(value: string | readonly string[] | undefined): string {
  return typeof value === "string" && requestIdPattern.test(value) ? value : randomUUID();
}

const notShared = /\b(?:no-store|private)\b/i;

/**
 * Whether a CDN or another shared cache may store a response with these headers (RFC 9111, 3; RFC 9213). It would send the id and the trace of one
 * request to all clients, so such a response has neither.
 */
export function isForSharedCaches(headers: readonly string[]): boolean {
  const permitsSharing = (value: string | undefined) => value !== undefined && !notShared.test(value);
  return (
    permitsSharing(findHeader(headers, "cache-control")) || permitsSharing(findHeader(headers, "cdn-cache-control"))
  );
}
