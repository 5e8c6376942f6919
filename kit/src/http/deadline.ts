import { AppError } from "../errors/app-error.ts";

/** The milliseconds that the caller still waits. Only the REST proxy sets it; it removes the header from client requests. */
export const deadlineHeader = "x-deadline-ms";

/**
 * The deadline of a request, from the moment its head was read. Work that has not started by then is rejected, since no client would get the
 * response. Work that has started continues: a caller cannot know the state after an aborted write.
 */
export function startDeadline(header: string | undefined, now: () => number = () => performance.now()) {
  const endsAt = header !== undefined && /^\d{1,9}$/.test(header) ? now() + Number(header) : Infinity;
  return {
    /** @throws AppError SERVICE_UNAVAILABLE. */
    requireTime(): void {
      if (now() < endsAt) return;
      const message = "The deadline of the request passed before it was started. Nothing was changed.";
      throw new AppError("SERVICE_UNAVAILABLE", message, { retryAfterSeconds: 1 });
    },
  };
}
