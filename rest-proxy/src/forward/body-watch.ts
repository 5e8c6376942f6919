/** The deadline of a response body that is a stream: `client.ts` calls `watchBody` once the head of the response is received. */
import type { Readable } from "node:stream";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { AttemptOutcome } from "@tributary/kit/upstream/replica-health";
import type { PendingBody } from "@tributary/kit/upstream/upstream";
import { isConnectionError, gatewayTimeout } from "../errors/service-failure.ts";

export interface BodyWatch {
  /** Has the deadline of the request, and gets the outcome of the attempt when the body is closed. */
  readonly pending: PendingBody;
  readonly signal: AbortSignalLike;
  /** How much longer than the service's deadline the reader of the body has. */
  readonly readerExtraMs: number;
  /** Called once, when the body is closed. */
  onClosed(): void;
}

/**
 * Enforces the deadline on a response body. If the proxy waits for the service at the deadline, the body is destroyed with an AppError
 * GATEWAY_TIMEOUT; if received bytes wait for their reader, this happens `readerExtraMs` later. If `signal` is aborted, the body is destroyed without
 * an error.
 */
export function watchBody(body: Readable, { pending, signal, readerExtraMs, onClosed }: BodyWatch): void {
  const { deadline } = pending;
  let isServiceLate = false;
  /** Set while the reader has extra time after the deadline. */
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
      // The service is late only if no received bytes wait for the reader. `isPaused` would not show that: every reader pauses from time to time.
      isServiceLate = body.readableLength === 0;
      if (isServiceLate) return destroyLate();
      readerTimer = setTimeout(destroyLate, readerExtraMs);
      // The deadline has ended and reports nothing more, so an abort must be listened for here.
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
  // Without a listener, the `error` event of a broken body would end the process. `finish` reads the error from `body.errored`.
  body.on("error", () => {});
  if (body.closed) finish();
  else body.once("close", finish);
}

/** Inconclusive if the reader destroyed the body or was too late: neither is a fault of the replica. @param body is closed. */
function toBodyOutcome(body: Readable): AttemptOutcome {
  if (body.readableEnded) return "success";
  return isConnectionError(body.errored) ? "failure" : "inconclusive";
}
