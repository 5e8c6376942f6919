// The deadline of one request, with all its attempts. The deadline of an attempt is in attempt-timer.ts.
import type { AbortSignalLike } from "../http/abort-source.ts";

export type EndReason = "timeout" | "aborted";

/** `timeout` and `aborted` end the whole request; after `attempt-timeout` and `refused` (nothing was sent) it may be sent to another replica. */
export type AttemptEndReason = EndReason | "attempt-timeout" | "refused";

/** `sent`: bytes of the request may have been sent. `responding`: the head of the response is received. */
export type AttemptPhase = "connecting" | "sent" | "responding";

/**
 * The step of a request that is in progress: lookup, attempt or body. `onEnd` ends it: called by the deadline, and by attempt-timer.ts for an attempt
 * that is late. It is an object instead of a function, for speed: with a closure per request, the garbage of one request stayed alive with the
 * garbage of later requests from one scavenge to the next (V8 13.6), which cost a sixth of the time under load.
 */
export interface EndListener {
  readonly phase: AttemptPhase;
  onEnd(reason: AttemptEndReason, cause: unknown): void;
}

/** Ends one request, with all its attempts: at its timeout or when its caller aborts it, whichever is first. */
export interface RequestDeadline {
  /** Undefined while there is time left. */
  readonly ended: { readonly reason: EndReason; readonly cause: unknown } | undefined;
  /**
   * Its `onEnd` is called once, at the timeout or the abort. There is one listener at a time: each step of the request (lookup, attempt, body) sets
   * its own. A listener that is set after the end is not called: check `ended` first.
   */
  listener: EndListener | undefined;
  /** Frees the timer and the signal. Must be called when the request ends. */
  clear(): void;
}

/**
 * One timer per request is cheap (0.5 µs from start to end): most timeouts have the same length, and Node keeps timers of one length in one list.
 * @param timeoutMs 1 to 2^31 - 1.
 */
export function createDeadline(timeoutMs: number, signal: AbortSignalLike | undefined): RequestDeadline {
  return new TimerDeadline(timeoutMs, signal);
}

class TimerDeadline implements RequestDeadline {
  ended: RequestDeadline["ended"] = undefined;
  listener: EndListener | undefined = undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignalLike | undefined;
  readonly #onAbort = () => this.#end("aborted", this.#signal?.reason);

  constructor(timeoutMs: number, signal: AbortSignalLike | undefined) {
    this.#signal = signal;
    this.#timer = setTimeout(() => this.#end("timeout", new Error(`No response within ${timeoutMs} ms`)), timeoutMs);
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }

  #end(reason: EndReason, cause: unknown): void {
    if (this.ended) return;
    this.ended = { reason, cause };
    this.listener?.onEnd(reason, cause);
  }
}

/** Resolves when `work` is done or the time ends, whichever is first. Sets `deadline.listener`. `work` must not reject. */
export function waitWithin(deadline: RequestDeadline, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    deadline.listener = { phase: "connecting", onEnd: () => resolve() };
    void work.then(resolve);
  });
}
