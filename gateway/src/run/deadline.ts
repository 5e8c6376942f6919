// Stage 4 of 5: fetch it. Waits end: at a time, or when what they serve has ended.

/** Why a request's signal was aborted: its time is up, or its client went away. */
export type AbortReason = "late" | "gone";

export interface Deadline {
  readonly signal: AbortSignal;
  end(reason: AbortReason): void;
  /** Must be called when the work is done: frees the timer. */
  clear(): void;
}

/** A signal that is aborted with `reason` after `timeoutMs`, or before by `end`. */
export function createDeadline(timeoutMs: number, reason: AbortReason): Deadline {
  const controller = new AbortController();
  const end = (why: AbortReason) => controller.abort(why);
  const timer = setTimeout(end, timeoutMs, reason);
  return { signal: controller.signal, end, clear: () => clearTimeout(timer) };
}
