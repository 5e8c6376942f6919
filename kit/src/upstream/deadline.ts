export type EndReason = "timeout" | "aborted";
type OnEnd = (reason: EndReason, cause: unknown) => void;

/** The end of the time that one request has: its deadline, or its caller's abort, whichever is first. */
export interface Deadline {
  /** Undefined while there is time left. */
  readonly ended: { readonly reason: EndReason; readonly cause: unknown } | undefined;
  /** Calls back at once when the end comes; one at a time, the next replaces it. */
  onEnd(callback: OnEnd | undefined): void;
  /** Must be called when the work is done: frees the timer and the listener. */
  clear(): void;
}

/** @param timeoutMs 1 to 2^31 - 1. */
export function createDeadline(timeoutMs: number, signal: AbortSignal | undefined): Deadline {
  let notify: OnEnd | undefined;
  function end(reason: EndReason, cause: unknown): void {
    if (deadline.ended) return;
    deadline.ended = { reason, cause };
    notify?.(reason, cause);
  }
  const follow = () => end("aborted", signal?.reason);
  const timer = setTimeout(() => end("timeout", new Error(`No answer within ${timeoutMs} ms`)), timeoutMs);
  // Data, not an accessor: one in a literal gives every object a hidden class of its own, and what it holds outlives the young generation.
  const deadline: { -readonly [Key in keyof Deadline]: Deadline[Key] } = {
    ended: undefined,
    onEnd: (callback) => void (notify = callback),
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", follow);
    },
  };
  if (signal?.aborted) follow();
  else signal?.addEventListener("abort", follow, { once: true });
  return deadline;
}
