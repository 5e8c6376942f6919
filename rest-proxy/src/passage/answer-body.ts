import type { Readable } from "node:stream";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { Deadline, EndReason } from "@tributary/kit/upstream/deadline";
import type { Verdict } from "@tributary/kit/upstream/replica-health";
import { isConnectionError, serviceLate } from "../errors/errors.ts";

export interface BodyWatch {
  readonly deadline: Deadline;
  readonly signal: AbortSignalLike;
  /** A reader that holds the answer up has so much longer than the service. */
  readonly readerExtraMs: number;
  /** Called once, when nothing of the answer is held any more. */
  onClosed(verdict: Verdict, cause: unknown): void;
}

/**
 * Keeps the time over an answer that is being read, to its end. The service has until the deadline for all of it; when it is the reader who
 * holds it up, the reader is waited for a while longer. Then the body is destroyed, with an AppError where it was the time.
 */
export function watchBody(body: Readable, { deadline, signal, readerExtraMs, onClosed }: BodyWatch): void {
  let isLate = false;
  let patience: NodeJS.Timeout | undefined;
  const leave = () => void body.destroy();
  const cut = () => void body.destroy(serviceLate(deadline.ended?.cause));
  const onDeadline = (reason: EndReason) => {
    if (reason === "aborted") return leave();
    // What came and was not taken yet waits for the reader; `isPaused` is true of every reader by turns.
    isLate = body.readableLength === 0;
    if (isLate) return cut();
    patience = setTimeout(cut, readerExtraMs);
    // The deadline has ended, and tells of no second end.
    signal.addEventListener("abort", leave);
  };
  deadline.listener = { onDeadline };
  const finish = () => {
    deadline.clear();
    deadline.listener = undefined;
    clearTimeout(patience);
    if (patience) signal.removeEventListener("abort", leave);
    onClosed(isLate ? "bad" : judge(body), body.errored);
  };
  // With a listener Node tells a broken answer from one that its reader does not want.
  body.on("error", () => {});
  if (body.closed) finish();
  else body.once("close", finish);
}

function judge(body: Readable): Verdict {
  if (body.readableEnded) return "good";
  return isConnectionError(body.errored) ? "bad" : "neither";
}
