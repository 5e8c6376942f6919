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

type ReplicaObservation = UpstreamObservation & { readonly service: string };

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
  | ReplicaObservation
  | ConnectionClosed
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

/** Observations that repeat during an outage, with the log message of the first one. */
const failureMessages = {
  "service-failed": "service did not respond; further failures are counted",
  "dns-lookup-failed": "DNS lookup of a service failed; its last addresses are still used",
  "token-keys-failed": "token keys could not be fetched; further failures are counted",
  "refresh-failed": "cache entry not refreshed; further failures are counted",
} as const;

type FailureKind = keyof typeof failureMessages;
type FailureObservation = Extract<LoggedObservation, { kind: FailureKind }>;

/** The level and message of all other observations. Clients can cause any number of those at `debug`. */
const logLines: Record<
  Exclude<LoggedObservation["kind"], FailureKind>,
  readonly ["debug" | "info" | "warn" | "error", string]
> = {
  "old-versions": ["info", "old versions are in use"],
  "token-keys-fetched": ["debug", "token keys fetched"],
  unreadable: ["debug", "invalid HTTP request rejected"],
  "connection-closed": ["debug", "connection closed: its address holds too much of what all clients share"],
  "response-truncated": ["warn", "response truncated"],
  "replica-ejected": ["warn", "replica ejected"],
  "replica-draining": ["info", "draining replica ejected"],
  "replica-restored": ["info", "replica restored"],
  "replica-removed": ["info", "ejected replica removed"],
  retried: ["debug", "request retried"],
  "retry-over-budget": ["debug", "request not retried: the retry budget is used up"],
  bug: ["error", "request failed because of a bug"],
};

/** @param failures logs the first of equal failures, and counts those that repeat during an outage. */
export function createObserver(log: Log, failures: FailureLog): (observation: LoggedObservation) => void {
  return (observation) => {
    const fields = toLogFields(observation);
    if (isFailure(observation))
      return failures.report(identifyFailure(observation), fields, failureMessages[observation.kind]);
    const [level, message] = logLines[observation.kind];
    log[level](fields, message);
  };
}

function isFailure(observation: LoggedObservation): observation is FailureObservation {
  return Object.hasOwn(failureMessages, observation.kind);
}

function identifyFailure(observation: FailureObservation): Parameters<FailureLog["report"]>[0] {
  switch (observation.kind) {
    case "service-failed":
      return { service: observation.service, replica: observation.replica, reason: observation.code };
    case "dns-lookup-failed":
      return { service: observation.service, replica: observation.host, reason: "LOOKUP_FAILED" };
    case "token-keys-failed":
      return { service: "token-issuer", replica: undefined, reason: "KEYS_UNAVAILABLE" };
    case "refresh-failed": {
      const failure = observation.cause instanceof ServiceFailure ? observation.cause : undefined;
      return { service: observation.service, replica: failure?.replica, reason: failure?.code ?? "REFRESH_FAILED" };
    }
  }
}

/**
 * Paths and cache keys may contain personal data, so they are not logged. The trace id has the field name that all processes use, and the log
 * serializes the member `err` as an error.
 */
function toLogFields(observation: LoggedObservation): Readonly<Record<string, unknown>> {
  const { traceId, cause, path: _path, key: _key, ...fields }: Record<string, unknown> = { ...observation };
  if (traceId !== undefined) fields["trace_id"] = traceId;
  if ("cause" in observation) fields["err"] = cause;
  return fields;
}
