// Stage 3 of 5: cache. Responses from the cache to clients: the stored one, or a 304 if the client has it (conditional.ts compares).
import type { ServerResponse } from "node:http";
import { createDeadlineSignal, createDisconnectSignal } from "@tributary/kit/http/abort-source";
import { withoutHeaders } from "@tributary/kit/http/raw-headers";
import type { InformationListener } from "@tributary/kit/upstream/transport";
import { destroyBody, endWith, relayBody } from "./body-relay.ts";
import type {
  CacheableRequest,
  CacheLookup,
  CacheObservation,
  ForwardReason,
  OriginFetchers,
  OriginResponse,
} from "./cache-request.ts";
import { isNotModified } from "./conditional.ts";
import { isSafe } from "./invalidation.ts";
import { ownPolicyField } from "./policy.ts";
import { ageSeconds, type Entry, secondsLeft } from "./entry.ts";

/** What it adds is not stored. It may modify the list, which is a copy. */
export type AddHeaders = (headers: string[]) => string[];

export const addNoHeaders: AddHeaders = (headers) => headers;

export interface CachedResponse {
  readonly status: number;
  readonly headers: string[];
  readonly body: Buffer | undefined;
}

/** A 304 if the client already has the response (RFC 9111, 4.3.2). */
export function createCachedResponse(
  entry: Entry,
  request: CacheableRequest,
  nowMs: number,
  cacheStatus: string,
): CachedResponse {
  const isUnchanged = entry.status === 200 && isNotModified(request.headers, entry.validators, nowMs);
  const headers = (isUnchanged ? entry.notModifiedHeaders : entry.headers).slice();
  // `Date` is the last stored header (`StoredHead.headers`). A confirmation renews it, as a 304 does.
  if (entry.confirmedAtMs !== undefined) headers[headers.length - 1] = new Date(entry.confirmedAtMs).toUTCString();
  headers.push("Age", String(ageSeconds(entry, nowMs)), "Cache-Status", cacheStatus);
  const body = isUnchanged || request.method === "HEAD" ? undefined : entry.body;
  return { status: isUnchanged ? 304 : entry.status, headers, body };
}

export function writeCachedResponse(
  response: ServerResponse,
  { status, headers, body }: CachedResponse,
  addHeaders: AddHeaders,
): void {
  if (response.destroyed) return;
  response.writeHead(status, addHeaders(headers));
  endWith(response, body);
}

/** Its `ttl` in `Cache-Status` is negative (RFC 9211, 2.4). */
export function writeStale(
  { name, nowMs }: { readonly name: string; readonly nowMs: () => number },
  response: ServerResponse,
  request: CacheableRequest,
  entry: Entry,
  addHeaders: AddHeaders,
): void {
  const atMs = nowMs();
  const cacheStatus = hitStatus(name, secondsLeft(entry, atMs));
  writeCachedResponse(response, createCachedResponse(entry, request, atMs, cacheStatus), addHeaders);
}

/** @throws TypeError for an invalid header; the body is destroyed then. */
export function writeOriginHead(
  response: ServerResponse,
  { status, headers, body }: OriginResponse,
  cacheStatus: string,
  addHeaders: AddHeaders,
): void {
  if (response.destroyed) return;
  try {
    const copy = withoutHeaders(headers, (name) => name === ownPolicyField);
    copy.push("Cache-Status", cacheStatus);
    response.writeHead(status, addHeaders(copy));
  } catch (error) {
    destroyBody(body);
    throw error;
  }
}

/** A client's request that no fresh entry satisfies. */
export interface CacheExchange {
  readonly lookup: CacheLookup;
  readonly response: ServerResponse;
  readonly fetchers: OriginFetchers;
  readonly addHeaders: AddHeaders;
  /** Forwards an informational response to the client, until the final one begins. */
  readonly onInformation?: InformationListener | undefined;
  /** When the client stops waiting, by `performance.now`. Absent: its response takes as long as the origin does. */
  readonly endsAtMs?: number | undefined;
}

export interface PastCacheRequest extends CacheExchange {
  readonly forwarded: ForwardReason;
  /** Before any byte of the response is written: a write invalidates entries before the client has its response. */
  readonly onResponse?: (response: OriginResponse) => void;
  /** The origin may have processed a write all the same. */
  readonly onError?: (error: unknown) => void;
}

/** Relays the response without storing it. @throws the error of the origin fetch; nothing is written then. */
export async function forwardPastCache(
  { name, observe }: { readonly name: string; readonly observe: (observation: CacheObservation) => void },
  { lookup, response, fetchers, addHeaders, onInformation, forwarded, onResponse, onError, endsAtMs }: PastCacheRequest,
): Promise<void> {
  const method = lookup.request.method ?? "";
  const signal = isSafe(method) ? createDisconnectSignal(response, endsAtMs) : createDeadlineSignal(endsAtMs);
  let fetched: OriginResponse;
  try {
    fetched = await fetchers.fetch({ method, headers: fetchers.headers, signal, onInformation });
  } catch (error) {
    onError?.(error);
    throw error;
  }
  onResponse?.(fetched);
  observe({ kind: "bypass" });
  if (response.destroyed) return destroyBody(fetched.body);
  writeOriginHead(response, fetched, forwardedStatus(name, { forwarded, status: fetched.status }), addHeaders);
  // Read at the client's pace, and destroyed if the client disconnects.
  await relayBody(fetched.body, { client: response, bytesMax: 0, isWanted: () => false });
}

export interface ForwardedStatus {
  readonly forwarded: ForwardReason;
  readonly status?: number;
  readonly isStored?: boolean;
  readonly isCollapsed?: boolean;
}

/** RFC 9211, 2.2 to 2.6. */
export function forwardedStatus(name: string, { forwarded, status, isStored, isCollapsed }: ForwardedStatus): string {
  // Concatenated: this runs for every relayed response.
  let member = `${name}; fwd=${forwarded}`;
  if (status) member += `; fwd-status=${status}`;
  if (isStored) member += "; stored";
  if (isCollapsed) member += "; collapsed";
  return member;
}

/** RFC 9211, 2.1 and 2.4. @param ttlSeconds negative for a stale one. */
export function hitStatus(name: string, ttlSeconds: number): string {
  return `${name}; hit; ttl=${ttlSeconds}`;
}
