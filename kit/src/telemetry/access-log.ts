import type { Log } from "../process/log.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";
import { createGroupedLog, type FailureKind } from "./failure-log.ts";
import type { Span } from "./tracing/trace.ts";

export interface FailedRequestKind extends FailureKind {
  readonly route: string;
  readonly status: number;
  readonly code: string | undefined;
}

export interface AccessLog<Kind extends FailureKind> {
  /** @param hasFailed by a fault of the platform, not of the client; false for a rejection because of overload. */
  isWanted(span: Span | undefined, hasFailed: boolean): boolean;
  /** For a request for which `isWanted` is true. @param failure the kind of failure; undefined if the request has not failed. */
  write(span: Span | undefined, failure: Kind | undefined, fields: object): void;
  close(): void;
}

const message = "request completed";

/**
 * With `sampled`, the lines and the counts together are all failed requests, without those that admission rejected.
 * @param manyValued the field of a kind that becomes `other` for further kinds, after 100 of a service.
 */
export function createAccessLog<Kind extends FailureKind>(
  log: Log,
  mode: TelemetryConfig["accessLog"],
  manyValued: keyof Kind & string,
): AccessLog<Kind> {
  const observations = { counted: "failed-requests-counted", ended: "failed-requests-ended" };
  const failures = createGroupedLog<Kind>(log, { level: "info", manyValued, ...observations });

  return {
    isWanted(span, hasFailed) {
      if (mode === "all") return true;
      const isTraced = span !== undefined;
      return mode === "sampled" && (isTraced || hasFailed);
    },
    write(span, failure, fields) {
      const isOneOfMany = mode === "sampled" && span === undefined;
      if (failure && isOneOfMany) failures.report(failure, fields, message);
      else log.info({ ...failure, ...fields } as object, message);
    },
    close: () => failures.close(),
  };
}
