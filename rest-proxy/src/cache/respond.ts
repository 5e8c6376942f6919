/** Writes responses to clients: from a stored response, or relayed from the origin without the cache (bypass). */
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
 * Changes the headers of each response before they are written, for the caller of the cache: alternating names and values. The list may be
 * changed and returned; nothing of it is stored.
 */
export type CompleteHeaders = (headers: string[]) => string[];

export const unchangedHeaders: CompleteHeaders = (headers) => headers;

/** A whole response from the store. The caller may change `headers`, which are a copy. */
export interface CachedResponse {
  readonly status: number;
  /** Alternating names and values, with `Age` and `Cache-Status`; for one `writeHead`. */
  readonly headers: string[];
  /** For `end`; undefined for a 304 and for `HEAD`. */
  readonly body: Buffer | undefined;
}

/**
 * Creates the response from an entry (RFC 9111, 4), fresh or stale: a 304 if the client's conditions show that it has it (4.3.2), no body for `HEAD`
 * (RFC 9110, 9.3.2).
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
  headers.push("Age", String(ageSeconds(entry, nowMs)), "Cache-Status", cacheStatus);
  const body = isUnchanged || request.method === "HEAD" ? undefined : entry.body;
  return { status: isUnchanged ? 304 : entry.status, headers, body };
}

/** Writes a whole response. Does nothing if the client has disconnected. */
export function writeCachedResponse(
  response: ServerResponse,
  { status, headers, body }: CachedResponse,
  complete: CompleteHeaders,
): void {
  if (response.destroyed) return;
  response.writeHead(status, complete(headers));
  endWith(response, body);
}

/** Writes a stale entry; its `ttl` in `Cache-Status` is negative (RFC 9211, 2.4). */
export function writeStale(
  { name, nowMs }: { readonly name: string; readonly nowMs: () => number },
  response: ServerResponse,
  request: CacheableRequest,
  entry: Entry,
  complete: CompleteHeaders,
): void {
  const atMs = nowMs();
  const status = hitStatus(name, secondsLeft(entry, atMs));
  writeCachedResponse(response, createCachedResponse(entry, request, atMs, status), complete);
}

/**
 * Writes the head of an origin response; its body follows. Does nothing if the client has disconnected.
 * @throws TypeError for an invalid header; the body is destroyed then.
 */
export function writeOriginHead(
  response: ServerResponse,
  { status, headers, body }: OriginResponse,
  cacheStatus: string,
  complete: CompleteHeaders,
): void {
  if (response.destroyed) return;
  try {
    const list = [...headers];
    list.push("Cache-Status", cacheStatus);
    response.writeHead(status, complete(list));
  } catch (error) {
    destroyBody(body);
    throw error;
  }
}

export interface Bypass {
  readonly lookup: CacheLookup;
  readonly response: ServerResponse;
  readonly fetchers: OriginFetchers;
  readonly complete: CompleteHeaders;
  readonly forwarded: ForwardReason;
  /** Called before any byte of the response is written to the client. */
  readonly onResponse?: (response: OriginResponse) => void;
  /** Called if there is no response. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Sends the client's request to the origin unchanged and relays the response: writes, `OPTIONS` and the like, most `HEAD`, and reads that the cache
 * must not handle. Nothing is stored.
 * @throws the error of the origin fetch; nothing is written then.
 */
export async function bypass(
  { name, observe }: { readonly name: string; readonly observe: (observation: CacheObservation) => void },
  { lookup, response, fetchers, complete, forwarded, onResponse, onError }: Bypass,
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
  writeOriginHead(response, fetched, forwardedStatus(name, { forwarded, status: fetched.status }), complete);
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
  let text = `${name}; fwd=${forwarded}`;
  if (status) text += `; fwd-status=${status}`;
  if (isStored) text += "; stored";
  return isCollapsed ? `${text}; collapsed` : text;
}

/** This cache's member of `Cache-Status` for a response from the store (RFC 9211, 2.1 and 2.4). @param ttlSeconds negative for a stale one. */
export function hitStatus(name: string, ttlSeconds: number): string {
  return `${name}; hit; ttl=${ttlSeconds}`;
}
