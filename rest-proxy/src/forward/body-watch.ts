import type { Readable } from "node:stream";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { AttemptOutcome } from "@tributary/kit/upstream/replica-health";
import type { PendingBody } from "@tributary/kit/upstream/upstream";
import { gatewayTimeout, isConnectionError, UnreadResponse } from "../errors/service-failure.ts";

export interface BodyWatch {
  readonly pending: PendingBody;
  readonly signal: AbortSignalLike;
  readonly readerExtraMs: number;
  onClosed(): void;
}

/** At the deadline it ends with an AppError GATEWAY_TIMEOUT; with an `UnreadResponse` `readerExtraMs` later if received bytes wait for their reader. */
export function watchBody(body: Readable, { pending, signal, readerExtraMs, onClosed }: BodyWatch): void {
  const { deadline } = pending;
  let isServiceLate = false;
  let readerTimer: NodeJS.Timeout | undefined;
  const abort = () => {
    body.destroy();
  };
  const destroyLate = () => {
    body.destroy(gatewayTimeout(deadline.ended?.cause));
  };
  deadline.listener = {
    phase: "responding",
    onEnd(reason) {
      if (reason === "aborted") return abort();
      // `isPaused` would not show that no bytes wait: every reader pauses from time to time.
      isServiceLate = body.readableLength === 0;
      if (isServiceLate) return destroyLate();
      readerTimer = setTimeout(() => body.destroy(new UnreadResponse(deadline.ended?.cause)), readerExtraMs);
      // The deadline has ended and reports no abort.
      signal.addEventListener("abort", abort);
    },
  };
  const finish = () => {
    deadline.listener = undefined;
    clearTimeout(readerTimer);
    if (readerTimer) signal.removeEventListener("abort", abort);
    pending.finish(isServiceLate ? "failure" : toBodyOutcome(body), body.errored);
    onClosed();
  };
  // A broken body would end the process. `finish` reads `body.errored`.
  body.on("error", () => {});
  if (body.closed) finish();
  else body.once("close", finish);
}

/** If the reader destroyed the body or was too late, the replica is not at fault. */
function toBodyOutcome(body: Readable): AttemptOutcome {
  if (body.readableEnded) return "success";
  return isConnectionError(body.errored) ? "failure" : "inconclusive";
}
