export type EndReason = "timeout" | "aborted";

/**
 * An object, not a function: a closure per request, kept here and never called, was seen to keep the garbage of one request alive with that
 * of the next ones from one scavenge to the other (V8 13.6), which cost a sixth of the time under load.
 */
export interface EndListener {
  onDeadline(reason: EndReason, cause: unknown): void;
}

/** As much of an AbortSignal as is needed here: who sends much may bring something lighter. */
/** The end of the time that one request has: its deadline, or its caller's abort, whichever is first. */
export interface Deadline {
  /** Undefined while there is time left. */
  ended: { readonly reason: EndReason; readonly cause: unknown } | undefined;
  /** Hears of the end at once. One at a time: whoever waits now sets its own. */
  listener: EndListener | undefined;
  /** Must be called when the work is done: frees the timer and the listener. */
  clear(): void;
}

/**
 * A timer of its own for each: they have the same length as a rule, and Node keeps those in one list (0.5 µs from start to end).
 * @param timeoutMs 1 to 2^31 - 1.
 */
export function createDeadline(timeoutMs: number, signal: AbortSignalLike | undefined): Deadline {
  return new OneDeadline(timeoutMs, signal);
}

class OneDeadline implements Deadline {
  ended: Deadline["ended"] = undefined;
  listener: EndListener | undefined = undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignalLike | undefined;
  readonly #follow = () => this.#end("aborted", this.#signal?.reason);

  constructor(timeoutMs: number, signal: AbortSignalLike | undefined) {
    this.#signal = signal;
    this.#timer = setTimeout(() => this.#end("timeout", new Error(`No answer within ${timeoutMs} ms`)), timeoutMs);
    if (signal?.aborted) this.#follow();
    else signal?.addEventListener("abort", this.#follow);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#follow);
  }

  #end(reason: EndReason, cause: unknown): void {
    if (this.ended) return;
    this.ended = { reason, cause };
    this.listener?.onDeadline(reason, cause);
  }
}

/** Resolves when the work is done or the time is up, whichever is first. */
export function endOf(work: Promise<void>, deadline: Deadline): Promise<void> {
  return new Promise((resolve) => {
    deadline.listener = { onDeadline: () => resolve() };
    void work.then(resolve);
  });
}

import type { AbortSignalLike } from "../http/abort-source.ts";
