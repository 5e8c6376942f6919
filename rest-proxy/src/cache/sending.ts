import type { ServerResponse } from "node:http";
import { ageSeconds } from "./age.ts";
import { isNotModified } from "./conditional.ts";
import { endWith } from "./end-with.ts";
import type { Entry } from "./entry.ts";
import type { AskedOfCache } from "./lookup.ts";
import type { OriginAnswer } from "./origin.ts";
import { destroyBody } from "./relay.ts";

/**
 * What the caller of the cache does to each head before it goes out: names and values in turn, a list that it may change and give back. Nothing
 * of it is ever stored.
 */
export type CompleteHead = (headers: string[]) => string[];

export const asItIs: CompleteHead = (headers) => headers;

/** An answer from the store in its parts: what is the same each time it is used, and what is said anew. */
export interface StoredAnswer {
  readonly status: number;
  /** Names and values in turn; always the same list for the same parts of the same stored answer. */
  readonly stored: readonly string[];
  readonly age: string;
  readonly cacheStatus: string;
  /** Undefined for a 304 and for `HEAD`. */
  readonly body: Buffer | undefined;
}

/** A whole answer from the store. The array is the caller's own: further headers may be pushed onto it. */
export interface FreshAnswer {
  readonly status: number;
  /** Names and values in turn, with `Age` and `Cache-Status`; goes into one `writeHead`. */
  readonly headers: string[];
  /** For `end`; undefined for a 304 and for `HEAD`. */
  readonly body: Buffer | undefined;
}

/** What is stored as an answer (RFC 9111, 4): a 304 where the client has it (4.3.2), no body for `HEAD` (RFC 9110, 9.3.2). */
export function storedAnswer(entry: Entry, request: AskedOfCache, nowMs: number, cacheStatus: string): StoredAnswer {
  const isUnchanged = entry.status === 200 && isNotModified(request.headers, entry.validators, nowMs);
  return {
    status: isUnchanged ? 304 : entry.status,
    stored: isUnchanged ? entry.notModifiedHeaders : entry.headers,
    age: String(ageSeconds(entry.bornAtMs, nowMs)),
    cacheStatus,
    body: isUnchanged || request.method === "HEAD" ? undefined : entry.body,
  };
}

export function wholeAnswer({ status, stored, age, cacheStatus, body }: StoredAnswer): FreshAnswer {
  const headers = stored.slice();
  headers.push("Age", age, "Cache-Status", cacheStatus);
  return { status, headers, body };
}

export function answerFrom(entry: Entry, request: AskedOfCache, nowMs: number, cacheStatus: string): FreshAnswer {
  return wholeAnswer(storedAnswer(entry, request, nowMs, cacheStatus));
}

export function send(response: ServerResponse, { status, headers, body }: FreshAnswer, complete: CompleteHead): void {
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
  { status, headers, body }: OriginAnswer,
  cacheStatus: string,
  complete: CompleteHead,
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
