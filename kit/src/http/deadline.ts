import { AppError } from "../errors/app-error.ts";

/**
 * The milliseconds that the REST proxy still waits for a response. Only the REST proxy's requests have this header: upstream/upstream.ts writes
 * it, and the proxy removes it from a client's request.
 */
export const deadlineHeader = "x-deadline-ms";

const millisecondsPattern = /^\d{1,9}$/;

/**
 * Starts a REST request's deadline in a service (rest/rest-endpoint.ts); the time counts from this call. Work that has not started when the deadline
 * passes is rejected, since no client would get the response. Work that has started continues: after an aborted write the client could not know the
 * state.
 * @param header the value of `deadlineHeader`. There is no deadline if it is missing or not a whole number of up to nine digits.
 */
export function readDeadline(header: string | undefined, now: () => number = () => performance.now()) {
  const hasDeadline = header !== undefined && millisecondsPattern.test(header);
  const deadlineMs = hasDeadline ? now() + Number(header) : Infinity;
  return {
    /** Call before the work starts. @throws AppError SERVICE_UNAVAILABLE if the deadline has passed. */
    requireTime(): void {
      if (now() < deadlineMs) return;
      const message = "The deadline of the request passed before it was started. Nothing was changed.";
      throw new AppError("SERVICE_UNAVAILABLE", message, { retryAfterSeconds: 1 });
    },
  };
}
