import type { Log } from "@tributary/kit/process/log";
import type { UpstreamObservation } from "@tributary/kit/upstream/upstream";
import type { FailureLog } from "@tributary/kit/telemetry/failure-log";
import { ServiceFailure } from "../errors/errors.ts";

/** How often a client requested a route in an old version. */
export interface UsageCount {
  readonly version: number;
  /** A known name, `other` for any other name, `unnamed` for none. */
  readonly client: string;
  readonly route: string;
  readonly requests: number;
}

/** A replica of a service: ejected, restored, retried, looked up. */
type ReplicaObservation = UpstreamObservation & { readonly service: string };

export interface ObservedRequest {
  readonly requestId: string;
  /** The same in other processes, whether or not somebody records the trace. */
  readonly traceId: string;
  readonly method: string;
  /** As the table has it, such as `/things/:id`; `other` when none was found. */
  readonly route: string;
  /** Without its query. A path can hold anything: it stays out of the log. */
  readonly path: string;
}

/** What the rooms tell; only this file turns it into log lines. */
export type Observation =
  | ReplicaObservation
  | ({
      readonly kind: "service-failed";
      readonly service: string;
      /** The last one that the request was sent to, by URL and address; undefined when there was none. */
      readonly replica: string | undefined;
      readonly code: string;
      readonly cause: unknown;
    } & ObservedRequest)
  /** Without a service when it was the client that did not read. */
  | ({ readonly kind: "answer-cut"; readonly service?: string; readonly reason: string } & ObservedRequest)
  /** A cached response could not be refreshed in the background; it is used until it is too old. */
  | { readonly kind: "refresh-failed"; readonly service: string; readonly key: string; readonly cause: unknown }
  | ({ readonly kind: "bug"; readonly cause: unknown } & ObservedRequest)
  /** Who called versions older than the newest since the process began. */
  | { readonly kind: "old-versions"; readonly usage: readonly UsageCount[] }
  | { readonly kind: "unreadable"; readonly code: string; readonly requestId: string };

export type Observe = (observation: Observation) => void;

/** @param failures logs observations that repeat during an outage. */
export function createObserver(log: Log, failures: FailureLog): Observe {
  return (observed) => {
    const observation = toLogFields(observed);
    if (isFailure(observation)) return reportFailure(failures, observation);
    if (observation.kind === "old-versions") return log.info(observation, "old versions are in use");
    // Not louder: anybody can make as many of them as they like.
    if (observation.kind === "unreadable")
      return log.debug(observation, "a connection did not speak HTTP as it should");
    if (observation.kind === "answer-cut") return log.warn(observation, "an answer was cut in the middle");
    if (observation.kind === "replica-leaving") return log.info(observation, "draining replica ejected");
    if (observation.kind === "replica-back") return log.info(observation, "replica restored");
    if (observation.kind === "replica-gone") return log.info(observation, "ejected replica removed");
    if (observation.kind === "retried") return log.debug(observation, "request retried");
    if (observation.kind === "retry-refused")
      return log.debug(observation, "request not retried: the retry budget is used up");
    const { cause, ...fields } = observation;
    if (observation.kind === "replica-ejected") return log.warn({ ...fields, err: cause }, "replica ejected");
    return log.error({ ...fields, err: cause }, "a request failed by our own fault");
  };
}

type FailureObservation = Extract<Observation, { kind: "service-failed" | "lookup-failed" | "refresh-failed" }>;

function isFailure(observation: Observation): observation is FailureObservation {
  return ["service-failed", "lookup-failed", "refresh-failed"].includes(observation.kind);
}

function reportFailure(failures: FailureLog, observation: FailureObservation): void {
  const { cause, ...fields } = observation;
  const details = { ...fields, err: cause };
  switch (observation.kind) {
    case "service-failed": {
      const { service, replica, code: reason } = observation;
      return failures.report(
        { service, replica, reason },
        details,
        "a service did not respond; further failures are counted",
      );
    }
    case "lookup-failed": {
      const failure = { service: observation.service, replica: observation.host, reason: "LOOKUP_FAILED" };
      const message = "the name of a service's host cannot be looked up; its last addresses keep serving";
      return failures.report(failure, details, message);
    }
    case "refresh-failed": {
      const { code: reason = "REFRESH_FAILED", replica } = cause instanceof ServiceFailure ? cause : {};
      return failures.report(
        { service: observation.service, replica, reason },
        details,
        "a cached response could not be refreshed; further failures are counted",
      );
    }
  }
}

/** A path or a key of the cache can hold anything: an address, a search. The trace has the name that other processes give it. */
function toLogFields(observation: Observation): Observation {
  const { traceId, ...told }: Record<string, unknown> = { ...observation };
  if (traceId !== undefined) told["trace_id"] = traceId;
  delete told["path"];
  delete told["key"];
  return told as Observation;
}
