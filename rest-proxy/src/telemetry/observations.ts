import type { Log } from "@tributary/kit/log";
import type { PassageObservation } from "../passage/passage.ts";
import type { UsageCount } from "../usage.ts";

export interface About {
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
  | PassageObservation
  | ({
      readonly kind: "service-failed";
      readonly service: string;
      readonly code: string;
      readonly cause: unknown;
    } & About)
  /** Without a service when it was the client that did not read. */
  | ({ readonly kind: "answer-cut"; readonly service?: string; readonly reason: string } & About)
  /** What is stored could not be renewed in the background; it is used until it is too old. */
  | { readonly kind: "refresh-failed"; readonly key: string; readonly cause: unknown }
  | ({ readonly kind: "bug"; readonly cause: unknown } & About)
  /** Who called versions older than the newest since the process began. */
  | { readonly kind: "old-versions"; readonly usage: readonly UsageCount[] }
  | { readonly kind: "unreadable"; readonly code: string; readonly requestId: string };

export type Observe = (observation: Observation) => void;

export function createObserver(log: Log): Observe {
  return (observed) => {
    const observation = toLogFields(observed);
    if (observation.kind === "old-versions") return log.info(observation, "old versions are in use");
    // Not louder: anybody can make as many of them as they like.
    if (observation.kind === "unreadable")
      return log.debug(observation, "a connection did not speak HTTP as it should");
    if (observation.kind === "answer-cut") return log.warn(observation, "an answer was cut in the middle");
    if (observation.kind === "replica-leaving")
      return log.info(observation, "a replica of a service is about to stop; it is left out");
    if (observation.kind === "replica-back") return log.info(observation, "a replica of a service answers again");
    if (observation.kind === "replica-gone")
      return log.info(observation, "a replica of a service that was left out is not asked any more");
    if (observation.kind === "retried") return log.debug(observation, "a request was tried once more");
    if (observation.kind === "retry-refused")
      return log.debug(observation, "a request was not tried once more: the budget of retries is used up");
    const { cause, ...fields } = observation;
    if (observation.kind === "replica-ejected")
      return log.warn({ ...fields, err: cause }, "a replica of a service keeps failing; it is left out for a while");
    if (observation.kind === "lookup-failed")
      return log.warn(
        { ...fields, err: cause },
        "the name of a service's host cannot be looked up; its last addresses keep serving",
      );
    if (observation.kind === "refresh-failed")
      return log.warn({ ...fields, err: cause }, "a copy could not be renewed");
    if (observation.kind === "service-failed") return log.warn({ ...fields, err: cause }, "a service did not answer");
    return log.error({ ...fields, err: cause }, "a request failed by our own fault");
  };
}

/** A path or a key of the cache can hold anything: an address, a search. The trace has the name that other processes give it. */
function toLogFields(observation: Observation): Observation {
  const { traceId, ...told }: Record<string, unknown> = { ...observation };
  if (traceId !== undefined) told["trace_id"] = traceId;
  delete told["path"];
  delete told["key"];
  return told as Observation;
}
