// Stage 4 of 5: fetch it. Waits end: at a time, or when the client they serve goes away.
import type { ServerResponse } from "node:http";
import { type AbortSignalLike, AbortSource } from "@tributary/kit/http/abort-source";

/** Why a request's signal was aborted: its time is up, or its client went away. */
export type AbortReason = "late" | "gone";

export interface Deadline {
  /** Made when it is first asked for: an answer without fetches needs no signal, timer or listener. */
  signal(): AbortSignalLike;
  /** Must be called when the work is done: frees the timer. */
  clear(): void;
}

/** A signal that is aborted `timeoutMs` from now, or when the client goes away before it has its answer. */
export function createDeadline(response: ServerResponse, timeoutMs: number, onGone: () => void): Deadline {
  const endsMs = performance.now() + timeoutMs;
  let source: AbortSource | undefined;
  let timer: NodeJS.Timeout | undefined;

  const leave = () => {
    if (response.writableFinished) return;
    source?.abort("gone" satisfies AbortReason);
    onGone();
  };

  function arm(): AbortSource {
    const armed = new AbortSource();
    source = armed;
    timer = setTimeout(() => armed.abort("late" satisfies AbortReason), Math.max(0, endsMs - performance.now()));
    // The client may have left while its body was unpacked, or its operation planned.
    if (response.closed) leave();
    else response.once("close", leave);
    return armed;
  }

  return {
    signal: () => source ?? arm(),
    clear() {
      if (!source) return;
      clearTimeout(timer);
      response.off("close", leave);
    },
  };
}
