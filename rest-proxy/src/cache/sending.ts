import type { ServerResponse } from "node:http";
import { ageSeconds } from "./age.ts";
import { isNotModified } from "./conditional.ts";
import { endWith } from "./end-with.ts";
import type { Entry } from "./entry.ts";
import type { CacheableRequest } from "./lookup.ts";
import type { OriginResponse } from "./origin.ts";
import { destroyBody } from "./relay.ts";

/**
 * What the caller of the cache does to each head before it goes out: names and values in turn, a list that it may change and give back. Nothing
 * of it is ever stored.
 */
export type CompleteHeaders = (headers: string[]) => string[];

export const unchangedHeaders: CompleteHeaders = (headers) => headers;

/** A whole answer from the store. The array is the caller's own: further headers may be pushed onto it. */
export interface CachedResponse {
  readonly status: number;
  /** Names and values in turn, with `Age` and `Cache-Status`; goes into one `writeHead`. */
  readonly headers: string[];
  /** For `end`; undefined for a 304 and for `HEAD`. */
  readonly body: Buffer | undefined;
}

/** The response from a stored one (RFC 9111, 4): 304 where the client has it (4.3.2), no body for `HEAD` (RFC 9110, 9.3.2). */
export function answerFrom(
  entry: Entry,
  request: CacheableRequest,
  nowMs: number,
  cacheStatus: string,
): CachedResponse {
  const isUnchanged = entry.status === 200 && isNotModified(request.headers, entry.validators, nowMs);
  const headers = (isUnchanged ? entry.notModifiedHeaders : entry.headers).slice();
  headers.push("Age", String(ageSeconds(entry.bornAtMs, nowMs)), "Cache-Status", cacheStatus);
  const body = isUnchanged || request.method === "HEAD" ? undefined : entry.body;
  return { status: isUnchanged ? 304 : entry.status, headers, body };
}

export function send(
  response: ServerResponse,
  { status, headers, body }: CachedResponse,
  complete: CompleteHeaders,
): void {
  if (response.destroyed) return;
  response.writeHead(status, complete(headers));
  endWith(response, body);
}

/**
 * The head of an answer whose body is to come.
 * @throws TypeError for a header that cannot be sent; the body is let go then.
 */
export function sendHead(
  response: ServerResponse,
  { status, headers, body }: OriginResponse,
  cacheStatus: string,
  complete: CompleteHeaders,
): void {
  if (response.destroyed) return;
  try {
    const passed = [...headers];
    passed.push("Cache-Status", cacheStatus);
    response.writeHead(status, complete(passed));
  } catch (error) {
    destroyBody(body);
    throw error;
  }
}
