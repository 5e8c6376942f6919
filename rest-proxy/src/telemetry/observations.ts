/** The observations of the stages, and the log lines that are written for them. */
import type { ErrorCode } from "@tributary/kit/errors/app-error";
import type { FeedStateObservation } from "@tributary/kit/feed/feed-telemetry";
import type { Log } from "@tributary/kit/process/log";
import {
  type EntryPointObservation,
  entryPointFailures,
  entryPointLogLines,
  handleByKind,
  type LogLine,
} from "@tributary/kit/telemetry/entry-point-observations";
import type { Failure, FailureLog } from "@tributary/kit/telemetry/failure-log";
import { ServiceFailure } from "../errors/service-failure.ts";

/** How often a client requested a route in an old version. */
export interface UsageCount {
  readonly version: number;
  /** A known name, `other` for any other name, `unnamed` for none. */
  readonly client: string;
  readonly route: string;
  readonly requests: number;
}

export interface ObservedRequest {
  readonly requestId: string;
  /** The id of the trace, which other processes log too, even if the request is not traced. */
  readonly traceId: string;
  readonly method: string;
  /** The path template, such as `/things/:id`; `other` without a route. */
  readonly route: string;
  /** Without its query. It may contain personal data, so it is not logged. */
  readonly path: string;
}

export type Observation =
  /** While a change feed is down, cached responses of its service are validated when they are older than two seconds. */
  | EntryPointObservation
  | ({
      readonly kind: "service-failed";
      readonly service: string;
      /** The last replica that the request was sent to, by URL and address; undefined if it was sent to none. */
      readonly replica: string | undefined;
      readonly code: string;
      readonly cause: unknown;
    } & ObservedRequest)
  /** The response was truncated: by the service, or without `service` because the client did not read it in time. */
  | ({ readonly kind: "response-truncated"; readonly service?: string; readonly reason: string } & ObservedRequest)
  /** A cached response could not be refreshed in the background; it is used while `stale-while-revalidate` permits it. */
  | { readonly kind: "refresh-failed"; readonly service: string; readonly key: string; readonly cause: unknown }
  /** An error that is no `AppError`; the client got a 500. */
  | ({ readonly kind: "bug"; readonly cause: unknown } & ObservedRequest)
  /** Requests for versions older than the newest, since the start of the process. */
  | { readonly kind: "old-versions"; readonly usage: readonly UsageCount[] }
  /** Input that is not a valid HTTP request, or `CONNECT`; `code` is that of Node's HTTP parser. */
  | { readonly kind: "unreadable"; readonly code: string; readonly rejection: ErrorCode; readonly requestId: string };

export type Observe = (observation: Observation) => void;

/** The states of feeds are logged by `createFeedStateObserver`, as in all processes. */
type LoggedRestObservation = Exclude<Observation, FeedStateObservation>;

const identifyFailure = handleByKind<LoggedRestObservation, Failure | undefined>({
  ...entryPointFailures,
  "service-failed": ({ service, replica, code }) => ({ service, replica, reason: code }),
  "response-truncated": ({ service, reason }) =>
    service === undefined ? undefined : { service, replica: undefined, reason: `TRUNCATED_${reason}` },
  "refresh-failed": ({ service, cause }) => {
    const failure = cause instanceof ServiceFailure ? cause : undefined;
    return { service, replica: failure?.replica, reason: failure?.code ?? "REFRESH_FAILED" };
  },
});

/** Those that repeat during an outage (`identifyFailure`) are logged by the failure log, at `warn`. Clients can cause any number of those at `debug`. */
const logLines: Record<LoggedRestObservation["kind"], LogLine> = {
  ...entryPointLogLines,
  "service-failed": [
    "warn",
    "service did not respond, or with an error that is no problem document; further failures are counted",
  ],
  "dns-lookup-failed": ["warn", "DNS lookup of a service failed; its last addresses are still used"],
  "refresh-failed": ["warn", "cache entry not refreshed; further failures are counted"],
  "old-versions": ["info", "old versions are in use"],
  unreadable: ["debug", "invalid HTTP request rejected"],
  "response-truncated": ["warn", "response truncated; further ones are counted"],
  retried: ["debug", "request retried"],
  "retry-over-budget": ["debug", "request not retried: the retry budget is used up"],
  bug: ["error", "request failed because of a bug"],
};

/** @param failures logs the first of equal failures, and counts those that repeat during an outage. */
export function createObserver(log: Log, failures: FailureLog): (observation: LoggedRestObservation) => void {
  return (observation) => {
    const fields = toLogFields(observation);
    const [level, message] = logLines[observation.kind];
    const failure = identifyFailure(observation);
    // A client did not read its response.
    const isByClient = observation.kind === "response-truncated" && failure === undefined;
    if (failure) failures.report(failure, { ...fields, ...failure }, message);
    else if (isByClient) log.debug(fields, message);
    else log[level](fields, message);
  };
}

/**
 * Paths and cache keys may contain personal data, so they are not logged. The trace id has the field name that all processes use, and the log
 * serializes the member `err` as an error.
 */
function toLogFields(observation: LoggedRestObservation): Readonly<Record<string, unknown>> {
  const { traceId, cause, path: _path, key: _key, ...fields }: Record<string, unknown> = { ...observation };
  if (traceId !== undefined) fields["trace_id"] = traceId;
  if ("cause" in observation) fields["err"] = cause;
  return fields;
}
