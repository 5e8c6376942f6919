// Log lines for observations, written in this file only.
import type { Log } from "@tributary/kit/process/log";
import type { FailureLog } from "@tributary/kit/telemetry/failure-log";
import type { UpstreamObservation } from "@tributary/kit/upstream/upstream";
import type { OperationIdentity } from "../parse/validated-operation.ts";
import type { CacheName } from "./cache-metrics.ts";

/** What rooms of the gateway have to report. They say what happened; only this room decides what is logged, and how. */
export type Observation =
  | {
      readonly kind: "supergraph-loaded";
      readonly id: string;
      readonly subgraphs: readonly string[];
      readonly tookMs: number;
    }
  | { readonly kind: "supergraph-unavailable"; readonly source: string; readonly cause: unknown }
  /** At each further look, until it can be read again. */
  | { readonly kind: "supergraph-still-unavailable"; readonly source: string }
  | { readonly kind: "supergraph-refused"; readonly id: string; readonly cause: unknown }
  | { readonly kind: "subgraph-without-address"; readonly service: string }
  | { readonly kind: "override-without-subgraph"; readonly variable: string }
  | { readonly kind: "override-label-without-field"; readonly label: string }
  /** An error at a key that the gateway added to fetches of this entity type. Once for each type in a generation. */
  | { readonly kind: "key-check-stopped"; readonly service: string; readonly type: string }
  /** Once for each load. */
  | { readonly kind: "directives-without-effect" | "custom-directives"; readonly directives: readonly string[] }
  | SubgraphFetchFailed
  | SubgraphReplicas
  | SubgraphErrors
  | SubgraphAnswerMisshapen
  | PlanCompiled
  | ValuesRefused
  | PlanObservation
  | (OfRequest & { readonly kind: "request-refused"; readonly code: string; readonly status: number })
  | (OfRequest & { readonly kind: "client-gone" | "answer-cut" })
  | (Partial<OfRequest> & { readonly kind: "internal-error"; readonly cause: unknown })
  | { readonly kind: "library-log"; readonly level: "debug" | "info" | "warn" | "error"; readonly text: string };

/** By what lines of one request are found, here and in other processes: the trace has its id whether or not somebody records it. */
interface OfRequest extends Partial<OperationIdentity> {
  readonly requestId: string;
  readonly traceId: string;
}

/** A fetch gave nothing that can be used. `cause` may name hosts: it is for the log, never for a client. */
type SubgraphFetchFailed = OfRequest & {
  readonly kind: "subgraph-fetch-failed";
  readonly service: string;
  /** The last one that the fetch was sent to, by URL and address; undefined when there was none. */
  readonly replica: string | undefined;
  readonly code: string;
} & ({ readonly cause: unknown } | { readonly answer: object });

/** What happens to the replicas of a subgraph. They are named by URL and address: for the log, never for a client. */
type SubgraphReplicas = UpstreamObservation & { readonly service: string };

/** The `errors[]` of a subgraph's response, without its messages: these are in the subgraph's own log, by the request's id. */
interface SubgraphErrors extends OfRequest {
  readonly kind: "subgraph-errors";
  readonly service: string;
  readonly replica: string;
  /** What the client reads for the first error that is the subgraph's failure; undefined if all are meant for the client. */
  readonly code: string | undefined;
  readonly count: number;
  /** The first few of them. */
  readonly errors: readonly ToldSubgraphError[];
}

export interface ToldSubgraphError {
  /** A published one, else `other` or `none`. */
  readonly code: string;
  /** In that answer, see told-path.ts. */
  readonly path: string | undefined;
  readonly messageCharacters: number;
}

/** Values of a subgraph's response that do not fit the schema, or are missing, by their path in that response; each became null. */
interface SubgraphAnswerMisshapen extends OfRequest {
  readonly kind: "subgraph-answer-misshapen";
  readonly service: string;
  readonly replica: string;
  readonly count: number;
  readonly paths: readonly string[];
}

/** `jsonCharacters` is the plan's length as JSON. `operationHash` names an operation without showing what a client wrote in it. */
type PlanObservation =
  | { readonly kind: "plan-built"; readonly tookMs: number; readonly jsonCharacters: number }
  | {
      readonly kind: "plan-failed";
      readonly reason: string;
      readonly operationHash: string;
      readonly cause: unknown;
    }
  /** A thread begins to plan an operation that has waited so long for it. */
  | { readonly kind: "plan-started"; readonly waitedMs: number }
  | { readonly kind: "planner-replaced"; readonly reason: string; readonly cause: unknown }
  | { readonly kind: "plan-cache-hit" }
  | { readonly kind: "plan-cache-miss" }
  /** What was not used lately had to make room. */
  | { readonly kind: "cache-evicted"; readonly cache: CacheName };

/** A plan was made ready to run. `isMerged`: on the general path, which is slower than joining. */
interface PlanCompiled {
  readonly kind: "plan-compiled";
  readonly isMerged: boolean;
  readonly fetchCount: number;
}

/** Values that do not fit the schema, by their paths in the response to the client; each became null. */
interface ValuesRefused extends OfRequest {
  readonly kind: "values-refused";
  /** The subgraph of the first of them; `gateway` if it is not known. */
  readonly service: string;
  /** Of the first of them. */
  readonly code: string;
  readonly problems: readonly { readonly path: string; readonly code: string }[];
}

export type Observe = (observation: Observation) => void;

type Level = "debug" | "info" | "warn" | "error";

/** Observations that repeat during an outage, with the log message of the first one. */
const failureTexts = {
  "subgraph-fetch-failed": "a fetch from a subgraph failed; further failures are counted",
  "subgraph-errors": "a subgraph reported an internal error; further responses with such errors are counted",
  "subgraph-answer-misshapen": "a subgraph's response does not fit the schema; further such responses are counted",
  "values-refused": "values of a subgraph do not fit the schema; further such responses are counted",
  "lookup-failed": "the name of a subgraph's host cannot be resolved; its last addresses remain in use",
} as const;

type FailureKind = keyof typeof failureTexts;
type FailureObservation = Extract<GatewayObservation, { kind: FailureKind }> & { readonly replica: string | undefined };

const levels: Record<
  Exclude<Observation["kind"], "library-log" | Exclude<FailureKind, "subgraph-errors">>,
  readonly [Level, string]
> = {
  /** If all errors are meant for the client, such as FORBIDDEN. */
  "subgraph-errors": ["debug", "a subgraph reported errors that are meant for the client"],
  "supergraph-loaded": ["info", "serving a new supergraph"],
  "supergraph-unavailable": ["warn", "the supergraph cannot be read; the loaded supergraph remains in use"],
  "supergraph-still-unavailable": ["debug", "the supergraph cannot be read yet"],
  "supergraph-refused": ["error", "the supergraph cannot be used; the loaded supergraph remains in use"],
  "subgraph-without-address": ["warn", "a subgraph has no address; set SUBGRAPH_URL_<NAME>"],
  "override-without-subgraph": ["warn", "a variable for one subgraph names no subgraph of this supergraph"],
  "directives-without-effect": ["warn", "directives of federation in this supergraph have no effect in this gateway"],
  "custom-directives": ["info", "custom directives in this supergraph have no effect in this gateway"],
  "override-label-without-field": ["warn", "a label of OVERRIDE_LABELS is on no field of this supergraph"],
  "key-check-stopped": [
    "warn",
    "a subgraph reported an error at the key of an entity; keys of this type are not checked",
  ],
  "replica-ejected": ["warn", "replica ejected"],
  "replica-leaving": ["info", "draining replica ejected"],
  "replica-back": ["info", "replica restored"],
  "replica-gone": ["info", "ejected replica removed"],
  retried: ["debug", "fetch retried"],
  "retry-refused": ["debug", "fetch not retried: the retry budget is used up"],
  "plan-built": ["debug", "an operation was planned"],
  "plan-failed": ["warn", "an operation could not be planned"],
  "planner-replaced": ["warn", "a planner worker was replaced"],
  "plan-started": ["debug", "a planner worker started to plan an operation"],
  "cache-evicted": ["debug", "something that was kept had to make room"],
  "plan-cache-hit": ["debug", "a plan was kept from before"],
  "plan-cache-miss": ["debug", "a plan was not kept, or never made"],
  "plan-compiled": ["debug", "a query plan was made ready to run"],
  "request-refused": ["debug", "a request was refused"],
  "client-gone": ["debug", "a client went away; its fetches were aborted"],
  "answer-cut": ["debug", "a client did not read its answer in time"],
  "internal-error": ["error", "a bug: a request failed inside the gateway"],
};

/** @param failures logs observations that repeat during an outage. */
export function createObservationLog(log: Log, failures: FailureLog): GatewayObserver {
  return (observation) => {
    if (observation.kind === "library-log") return log[observation.level](observation.text);
    if (observation.kind === "lookup-failed")
      return reportFailure(failures, { ...observation, replica: observation.host }, "LOOKUP_FAILED");
    if (observation.kind === "subgraph-answer-misshapen") return reportFailure(failures, observation, "MISSHAPEN");
    if (observation.kind === "values-refused")
      return reportFailure(failures, { ...observation, replica: undefined }, observation.code);
    if (observation.kind === "subgraph-fetch-failed") return reportFailure(failures, observation, observation.code);
    if (observation.kind === "subgraph-errors" && observation.code !== undefined)
      return reportFailure(failures, observation, observation.code);
    const [level, message] = levels[observation.kind];
    const { kind, ...fields } = observation;
    log[level]({ observation: kind, ...toLogFields(fields) }, message);
  };
}

function reportFailure(failures: FailureLog, observation: FailureObservation, reason: string): void {
  const { kind, service, replica, ...details } = observation;
  failures.report({ service, replica, reason }, { observation: kind, ...toLogFields(details) }, failureTexts[kind]);
}

/** The log fields have the same names in all processes. */
function toLogFields(fields: object): object {
  if (!("traceId" in fields || "cause" in fields)) return fields;
  const { traceId, cause, ...rest } = fields as { readonly traceId?: string; readonly cause?: unknown };
  return {
    ...rest,
    ...(traceId === undefined ? {} : { trace_id: traceId }),
    ...("cause" in fields ? { err: cause instanceof Error ? cause : new Error(String(cause)) } : {}),
  };
}

/** A logger in Apollo's shape, for the libraries that want one. */
export function createLibraryLogger(observe: Observe) {
  const say = (level: Level) => (text?: unknown) => {
    observe({ kind: "library-log", level, text: text instanceof Error ? (text.stack ?? text.message) : String(text) });
  };
  return { debug: logAt("debug"), info: logAt("debug"), warn: logAt("warn"), error: logAt("error") };
}
