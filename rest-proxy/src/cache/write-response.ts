/**
 * The end of every cache request: writes a stored response or the head of an origin response, formats Cache-Status, and relays a response past the
 * cache.
 */
import type { ServerResponse } from "node:http";
import { createDisconnectSignal } from "@tributary/kit/http/abort-source";
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
import { ageSeconds, type Entry, secondsLeft } from "./entry.ts";

/**
 * Adds headers of the cache's caller to a response, or changes some, before its head is written. The list has alternating names and values. The
 * function may modify the list and return it, because it is a copy; what it adds is not stored.
 */
export type AddHeaders = (headers: string[]) => string[];

export const addNoHeaders: AddHeaders = (headers) => headers;

/** A whole response, mostly from the store. The caller may modify `headers`, which are a copy. */
export interface CachedResponse {
  readonly status: number;
  /** Alternating names and values, with `Age` and `Cache-Status`; for one `writeHead`. */
  readonly headers: string[];
  /** For `end`; undefined for a 304 and for `HEAD`. */
  readonly body: Buffer | undefined;
}

/**
 * Creates the response from an entry (RFC 9111, 4), fresh or stale: a 304 if the client's conditions show that it already has this response
 * (4.3.2); without a body for `HEAD` (RFC 9110, 9.3.2).
 * @param cacheStatus from `hitStatus` or `forwardedStatus`.
 */
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

/** Writes a whole response. Does nothing if the client has disconnected. */
export function writeCachedResponse(
  response: ServerResponse,
  { status, headers, body }: CachedResponse,
  addHeaders: AddHeaders,
): void {
  if (response.destroyed) return;
  response.writeHead(status, addHeaders(headers));
  endWith(response, body);
}

/**
 * Writes a stale entry: while it is refreshed in the background, or instead of an error of the origin. Its `ttl` in `Cache-Status` is negative
 * (RFC 9211, 2.4).
 */
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

/**
 * Writes the head of an origin response. The caller then passes the body to `relayBody`, which ends the response. Does nothing if the client has
 * disconnected.
 * @throws TypeError for an invalid header; the body is destroyed then.
 */
export function writeOriginHead(
  response: ServerResponse,
  { status, headers, body }: OriginResponse,
  cacheStatus: string,
  addHeaders: AddHeaders,
): void {
  if (response.destroyed) return;
  try {
    // A copy, since `addHeaders` may modify its argument.
    const copy = [...headers];
    copy.push("Cache-Status", cacheStatus);
    response.writeHead(status, addHeaders(copy));
  } catch (error) {
    destroyBody(body);
    throw error;
  }
}

export interface PastCacheRequest {
  readonly lookup: CacheLookup;
  readonly response: ServerResponse;
  readonly fetchers: OriginFetchers;
  readonly addHeaders: AddHeaders;
  readonly forwarded: ForwardReason;
  /** Called before any byte of the response is written: a write invalidates entries before the client has its response. */
  readonly onResponse?: (response: OriginResponse) => void;
  /** Called if there is no response: the origin may have processed a write all the same, so it invalidates entries too. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Sends the client's request to the origin without conditions of the cache, and relays the response: for writes, `OPTIONS` and other safe methods,
 * `HEAD` that the cache cannot respond to, and reads that it must not handle. Adds `Cache-Status` and the headers of `addHeaders` to the response.
 * The response is not stored, but `onResponse` may change the store.
 * @throws the error of the origin fetch; nothing is written then.
 */
export async function forwardPastCache(
  { name, observe }: { readonly name: string; readonly observe: (observation: CacheObservation) => void },
  { lookup, response, fetchers, addHeaders, forwarded, onResponse, onError }: PastCacheRequest,
): Promise<void> {
  const signal = createDisconnectSignal(response);
  const method = lookup.request.method ?? "";
  let fetched: OriginResponse;
  try {
    fetched = await fetchers.forClient({ method, headers: fetchers.headers, signal });
  } catch (error) {
    onError?.(error);
    throw error;
  }
  onResponse?.(fetched);
  observe({ kind: "bypass" });
  if (response.destroyed) return destroyBody(fetched.body);
  writeOriginHead(response, fetched, forwardedStatus(name, { forwarded, status: fetched.status }), addHeaders);
  // Nothing is collected: the body is read at the client's pace, and destroyed if the client disconnects.
  await relayBody(fetched.body, { client: response, bytesMax: 0, isWanted: () => false });
}

export interface ForwardedStatus {
  readonly forwarded: ForwardReason;
  /** Of the origin's response. Undefined for a client that joined another client's request. */
  readonly status?: number;
  readonly isStored?: boolean;
  readonly isCollapsed?: boolean;
}

/** This cache's member of `Cache-Status` for a request that was sent to the origin (RFC 9211, 2.2 to 2.6). */
export function forwardedStatus(name: string, { forwarded, status, isStored, isCollapsed }: ForwardedStatus): string {
  // Concatenated: this runs for every relayed response.
  let member = `${name}; fwd=${forwarded}`;
  if (status) member += `; fwd-status=${status}`;
  if (isStored) member += "; stored";
  if (isCollapsed) member += "; collapsed";
  return member;
}

/** This cache's member of `Cache-Status` for a response from the store (RFC 9211, 2.1 and 2.4). @param ttlSeconds negative for a stale one. */
export function hitStatus(name: string, ttlSeconds: number): string {
  return `${name}; hit; ttl=${ttlSeconds}`;
}
