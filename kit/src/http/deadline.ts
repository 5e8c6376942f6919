import { AppError } from "../errors/app-error.ts";

/** The milliseconds that the REST proxy still waits. It removes the header from a client's request. */
export const deadlineHeader = "x-deadline-ms";

const millisecondsPattern = /^\d{1,9}$/;

/** Only work that has not started is rejected: after an aborted write the client could not know the state. */
export function readDeadline(header: string | undefined, now: () => number = () => performance.now()) {
  const hasDeadline = header !== undefined && millisecondsPattern.test(header);
  const deadlineMs = hasDeadline ? now() + Number(header) : Infinity;
  return {
    /** @throws AppError SERVICE_UNAVAILABLE if the deadline has passed. */
    requireTime(): void {
      if (now() < deadlineMs) return;
      const message = "The deadline of the request passed before it was started. Nothing was changed.";
      throw new AppError("SERVICE_UNAVAILABLE", message, { retryAfterSeconds: 1 });
    },
  };
}
