// Stage 4 of 5: fetch it. Waits end: at a time, or when what they serve has ended.

/** Why a signal was aborted. `late` and `gone` are the request's ends, `deadline` is one fetch's. */
export type AbortReason = "deadline" | "late" | "gone";

export interface Deadline {
  readonly signal: AbortSignal;
  end(reason: AbortReason): void;
  /** Must be called when the work is done: frees the timer and the listener. */
  clear(): void;
}

/** A signal that is aborted with `reason` after `timeoutMs`, or with the parent's reason as soon as the parent is. */
export function createDeadline(timeoutMs: number, reason: AbortReason, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  const end = (why: unknown) => controller.abort(why);
  const followParent = () => end(parent?.reason);
  const timer = setTimeout(end, timeoutMs, reason);
  if (parent?.aborted) followParent();
  else parent?.addEventListener("abort", followParent, { once: true });
  return {
    signal: controller.signal,
    end,
    clear() {
      clearTimeout(timer);
      parent?.removeEventListener("abort", followParent);
    },
  };
}
