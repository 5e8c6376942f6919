import { AppError } from "../errors/app-error.ts";

/** How many milliseconds the caller still waits, said by the proxy alone: it takes off whatever a client sends under this name. */
export const deadlineHeader = "x-deadline-ms";

/**
 * The time a request has, from the moment its head was read. What has not begun when it is over is not begun: nobody would hear the
 * answer. What has begun goes on, for a write that is broken off leaves its caller in doubt.
 */
export function startDeadline(header: string | undefined, now: () => number = () => performance.now()) {
  const endsAt = header !== undefined && /^\d{1,9}$/.test(header) ? now() + Number(header) : Infinity;
  return {
    /** @throws AppError SERVICE_UNAVAILABLE. */
    requireTime(): void {
      if (now() < endsAt) return;
      const message = "The time for this was over before it could be begun. Nothing was done.";
      throw new AppError("SERVICE_UNAVAILABLE", message, { retryAfterSeconds: 1 });
    },
  };
}
