/** The observations of the stages, and the log lines that are written for them. */
import type { FeedStateObservation } from "@tributary/kit/feed/feed-telemetry";
import type { ConnectionClosed } from "@tributary/kit/http/incomplete-requests";
import type { Log } from "@tributary/kit/process/log";
import type { UpstreamObservation } from "@tributary/kit/upstream/upstream";
import type { FailureLog } from "@tributary/kit/telemetry/failure-log";
import { ServiceFailure } from "../errors/service-failure.ts";

/** How often a client requested a route in an old version. */
export interface UsageCount {
  readonly version: number;
  /** A known name, `other` for any other name, `unnamed` for none. */
  readonly client: string;
  readonly route: string;
  readonly requests: number;
}

/** About the replicas of a service: ejections, retries, failed DNS lookups. */
type ReplicaObservation = UpstreamObservation & { readonly service: string };

/** The request that an observation is about. */
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

/** What the stages report. This file writes the log lines, `observation-counts.ts` the metrics. */
export type Observation =
  | ReplicaObservation
  | ConnectionClosed
  /** A client gets a 502, 503 or 504. */
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
  /** After each fetch of the token issuer's keys. */
  | { readonly kind: "token-keys-fetched"; readonly isOk: boolean }
  /** The keys could not be fetched: known keys remain in use; without any, requests with a token get a 503. */
  | { readonly kind: "token-keys-failed"; readonly cause: unknown }
  /** A change feed is up or down. While it is down, cached responses of its service are validated when they are older than two seconds. */
  | FeedStateObservation
  /** Requests for versions older than the newest, since the start of the process. */
  | { readonly kind: "old-versions"; readonly usage: readonly UsageCount[] }
  /** Input that is not a valid HTTP request, or `CONNECT`; `code` is that of Node's HTTP parser. */
  | { readonly kind: "unreadable"; readonly code: string; readonly requestId: string };

export type Observe = (observation: Observation) => void;

/** The states of feeds are logged by `createFeedStateObserver`, as in all processes. */
type LoggedObservation = Exclude<Observation, FeedStateObservation>;

/** @param failures logs the first of equal failures, and counts those that repeat during an outage. */
export function createObserver(log: Log, failures: FailureLog): (observation: LoggedObservation) => void {
  return (observed) => {
    const observation = toLogFields(observed);
    if (isFailure(observation)) return reportFailure(failures, observation);
    switch (observation.kind) {
      case "old-versions":
        return log.info(observation, "old versions are in use");
      case "token-keys-fetched":
        return log.debug(observation, "token keys fetched");
      case "unreadable":
        // Only for debugging: clients can cause any number of these log lines.
        return log.debug(observation, "invalid HTTP request rejected");
      case "connection-closed":
        return log.debug(observation, "connection closed: its address holds too much of what all clients share");
      case "response-truncated":
        return log.warn(observation, "response truncated");
      case "replica-ejected":
        return log.warn(withErr(observation), "replica ejected");
      case "replica-draining":
        return log.info(observation, "draining replica ejected");
      case "replica-restored":
        return log.info(observation, "replica restored");
      case "replica-removed":
        return log.info(observation, "ejected replica removed");
      case "retried":
        return log.debug(observation, "request retried");
      case "retry-over-budget":
        return log.debug(observation, "request not retried: the retry budget is used up");
      case "bug":
        return log.error(withErr(observation), "request failed because of a bug");
    }
  };
}

/** The log serializes the member `err` as an error. */
function withErr({ cause, ...fields }: { readonly cause: unknown }): Readonly<Record<string, unknown>> {
  return { ...fields, err: cause };
}

type FailureKind = "service-failed" | "dns-lookup-failed" | "refresh-failed" | "token-keys-failed";
/** An observation that is reported to the failure log, which counts repetitions. */
type FailureObservation = Extract<LoggedObservation, { kind: FailureKind }>;

function isFailure(observation: LoggedObservation): observation is FailureObservation {
  return ["service-failed", "dns-lookup-failed", "refresh-failed", "token-keys-failed"].includes(observation.kind);
}

function reportFailure(failures: FailureLog, observation: FailureObservation): void {
  const details = withErr(observation);
  switch (observation.kind) {
    case "service-failed": {
      const { service, replica, code } = observation;
      const failure = { service, replica, reason: code };
      return failures.report(failure, details, "service did not respond; further failures are counted");
    }
    case "dns-lookup-failed": {
      const failure = { service: observation.service, replica: observation.host, reason: "LOOKUP_FAILED" };
      const message = "DNS lookup of a service failed; its last addresses are still used";
      return failures.report(failure, details, message);
    }
    case "token-keys-failed": {
      const failure = { service: "token-issuer", replica: undefined, reason: "KEYS_UNAVAILABLE" };
      return failures.report(failure, details, "token keys could not be fetched; further failures are counted");
    }
    case "refresh-failed": {
      const { service, cause } = observation;
      const serviceFailure = cause instanceof ServiceFailure ? cause : undefined;
      const reason = serviceFailure?.code ?? "REFRESH_FAILED";
      const failure = { service, replica: serviceFailure?.replica, reason };
      return failures.report(failure, details, "cache entry not refreshed; further failures are counted");
    }
  }
}

/** Paths and cache keys may contain personal data, so they are not logged. The trace id has the field name that all processes use. */
function toLogFields(observation: LoggedObservation): LoggedObservation {
  const { traceId, ...fields }: Record<string, unknown> = { ...observation };
  if (traceId !== undefined) fields["trace_id"] = traceId;
  delete fields["path"];
  delete fields["key"];
  return fields as LoggedObservation;
}
