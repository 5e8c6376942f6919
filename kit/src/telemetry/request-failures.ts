import { AppError, statusOf } from "../errors/app-error.ts";
import type { Log } from "../process/log.ts";
import { createFailureLog } from "./failure-log.ts";
import type { ServiceObserver } from "./service-observer.ts";

export interface RequestFailures {
  /**
   * An AppError with a 5xx status: the first of its dependency and code is logged in full, further ones are counted. Any other error is a
   * bug, logged in full each time. Other AppErrors are the client's, and not logged.
   */
  report(error: unknown, details?: object): void;
  close(): void;
}

export interface RequestFailuresOptions {
  /** For failures that no dependency causes. */
  readonly service: string;
  readonly log: Log;
  readonly observer?: ServiceObserver | undefined;
}

export function createRequestFailures({ service, log, observer }: RequestFailuresOptions): RequestFailures {
  const failures = createFailureLog(log);

  return {
    report(error, details = {}) {
      const code = error instanceof AppError ? error.code : "INTERNAL_SERVER_ERROR";
      const isClientError = statusOf[code] < 500;
      if (isClientError) return;
      observer?.failRequest(code);
      const fields = { ...details, err: error };
      const isBug = !(error instanceof AppError) || code === "INTERNAL_SERVER_ERROR";
      if (isBug) return log.error(fields, "a request failed: a bug in the service");
      const failure = { service: error.dependency ?? service, replica: undefined, reason: code };
      failures.report(failure, fields, "a request failed; further failures are counted");
    },
    close: () => failures.close(),
  };
}
