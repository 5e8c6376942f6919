// For whom a statement runs. A statement that no caller waits for takes a connection from those who wait.
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "../errors/app-error.ts";
import { AbortSource, type AbortSignalLike, createDisconnectSignal } from "../http/abort-source.ts";
import { deadlineHeader, readDeadline } from "../http/deadline.ts";

export interface WaitingCaller {
  /** Aborted when the caller disconnects. */
  readonly disconnected: AbortSignalLike;
  /** When it stops waiting, by `performance.now`; Infinity if it has set no deadline. */
  readonly endsAtMs: number;
  /** Of `readBytesMax`. Below 0, what it reads is cancelled. */
  bytesLeft: number;
  /** Set before the first commit is sent. From then on the request is completed, unless it reads too much: an error would say that nothing was changed. */
  hasWritten: boolean;
}

/**
 * What one request may read from the database, and compute from that. More than the gateway accepts as a response (10 MB), so that only memory and time
 * are lost by it: a list of lists can have 10,000 rows of 60 KB.
 */
export const readBytesMax = 16_777_216;

/** Its statement did not run, or was cancelled, or its transaction was rolled back. */
export class CallerLeft extends AppError {}

const callers = new AsyncLocalStorage<WaitingCaller | undefined>();

export function runForCaller<T>(caller: WaitingCaller | undefined, run: () => T): T {
  return callers.run(caller, run);
}

/** Undefined outside of a request, as in a script: then nothing is refused or cancelled. */
export function currentCaller(): WaitingCaller | undefined {
  return callers.getStore();
}

export function createCaller(request: IncomingMessage, response: ServerResponse): WaitingCaller {
  const endsAtMs = performance.now() + readDeadline(request.headers[deadlineHeader]);
  return { disconnected: createDisconnectSignal(response), endsAtMs, bytesLeft: readBytesMax, hasWritten: false };
}

/** For a value that is much longer than what it was computed from. @throws CallerLeft as `requireWaiting`. */
export function takeBytes(bytes: number): void {
  const caller = currentCaller();
  if (caller === undefined) return;
  caller.bytesLeft -= bytes;
  requireWaiting(caller);
}

/**
 * For a value that may be in the response several times, under several aliases: if false, leave it out. It does not throw, since an error of each of a
 * million fields takes longer than the fields: the GraphQL endpoint adds one error to the response.
 */
export function hasBytesFor(value: string): boolean {
  const caller = currentCaller();
  if (caller === undefined) return true;
  caller.bytesLeft -= value.length;
  return caller.bytesLeft >= 0;
}

/** @throws CallerLeft if the caller has disconnected, or its deadline has passed, or it has read more than `readBytesMax`. */
export function requireWaiting(caller = currentCaller()): void {
  if (caller === undefined) return;
  const isWaiting = caller.hasWritten || (!caller.disconnected.aborted && performance.now() < caller.endsAtMs);
  if (!isWaiting || caller.bytesLeft < 0) throw leftBy(caller);
}

export function leftBy({ disconnected, bytesLeft }: WaitingCaller): CallerLeft {
  // Without a 5xx status, since the service has not failed. No client gets this response.
  if (disconnected.aborted) return new CallerLeft("REQUEST_TIMEOUT", "The caller has disconnected.");
  if (bytesLeft < 0) {
    const maximum = `${readBytesMax / 1_048_576} MiB`;
    return new CallerLeft("PAYLOAD_TOO_LARGE", `The request reads more than ${maximum}. Request fewer items at once.`);
  }
  const message = "The deadline of the request has passed. Nothing was changed.";
  return new CallerLeft("SERVICE_UNAVAILABLE", message, { retryAfterSeconds: 1 });
}

/** Leaves with the last of `all`. Undefined, which never leaves, if one of them never does. */
export function joinCallers(all: readonly (WaitingCaller | undefined)[]): WaitingCaller | undefined {
  const distinct = new Set(all);
  const [first] = distinct;
  if (distinct.size === 1) return first;
  const disconnected = new AbortSource();
  let endsAtMs = 0;
  let waitingCount = distinct.size;
  const leave = () => {
    waitingCount--;
    if (waitingCount === 0) disconnected.abort(undefined);
  };
  for (const caller of distinct) {
    if (caller === undefined || caller.hasWritten) return undefined;
    endsAtMs = Math.max(endsAtMs, caller.endsAtMs);
    if (caller.disconnected.aborted) leave();
    else caller.disconnected.addEventListener("abort", leave);
  }
  return { disconnected, endsAtMs, bytesLeft: readBytesMax, hasWritten: false };
}
