// The log lines of observations: the only place where their levels and messages are chosen.
import type { FeedStateObservation } from "@tributary/kit/feed/feed-telemetry";
import type { Log } from "@tributary/kit/process/log";
import type { FailureLog } from "@tributary/kit/telemetry/failure-log";
import type { GatewayObservation } from "../observations.ts";

type Level = "debug" | "info" | "warn" | "error";

/** Observations that repeat during an outage, with the log message of the first one. */
const failureMessages = {
  "subgraph-fetch-failed": "a fetch from a subgraph failed; further failures are counted",
  "subgraph-errors": "a subgraph reported an internal error; further responses with such errors are counted",
  "subgraph-response-invalid": "a subgraph's response does not fit the schema; further such responses are counted",
  "values-rejected": "values of a subgraph do not fit the schema; further such responses are counted",
  "token-keys-failed": "token keys could not be fetched; further failures are counted",
  "dns-lookup-failed": "the name of a subgraph's host cannot be resolved; its last addresses remain in use",
} as const;

/** The states of feeds are logged by `createFeedStateObserver`, as in all processes. */
type LoggedObservation = Exclude<GatewayObservation, FeedStateObservation>;
type FailureKind = keyof typeof failureMessages;
type FailureObservation = Extract<GatewayObservation, { kind: FailureKind }> & {
  readonly service: string;
  readonly replica: string | undefined;
};

/** The level and message of all other observations. */
const logLines: Record<
  Exclude<LoggedObservation["kind"], "library-log" | Exclude<FailureKind, "subgraph-errors">>,
  readonly [Level, string]
> = {
  /** Only if all errors are meant for the client, such as FORBIDDEN; `failureMessages` has the message for all other errors. */
  "subgraph-errors": ["debug", "a subgraph reported errors that are meant for the client"],
  "supergraph-loaded": ["info", "serving a new supergraph"],
  "supergraph-unavailable": ["warn", "the supergraph cannot be read; the loaded supergraph remains in use"],
  "supergraph-still-unavailable": ["debug", "the supergraph cannot be read yet"],
  "supergraph-rejected": ["error", "the supergraph cannot be used; the loaded supergraph remains in use"],
  "supergraph-load-failed": ["error", "the supergraph could not be loaded; the gateway tries again"],
  "subgraph-without-address": ["warn", "a subgraph has no address; set SUBGRAPH_URL_<NAME>"],
  "variable-without-subgraph": ["warn", "a variable for one subgraph names no subgraph of this supergraph"],
  "directives-without-effect": ["warn", "directives of federation in this supergraph have no effect in this gateway"],
  "custom-directives": ["info", "custom directives in this supergraph have no effect in this gateway"],
  "override-label-without-field": ["warn", "a label of OVERRIDE_LABELS is on no field of this supergraph"],
  "key-check-stopped": [
    "warn",
    "a subgraph did not return the key of an entity; for a while, keys of this type are not checked",
  ],
  "request-split": [
    "warn",
    "a subgraph rejected a document, but not all of its parts: they are sent singly for a minute",
  ],
  "replica-ejected": ["warn", "replica ejected"],
  "replica-draining": ["info", "draining replica ejected"],
  "replica-restored": ["info", "replica restored"],
  "replica-removed": ["info", "ejected replica removed"],
  retried: ["debug", "fetch retried"],
  "retry-over-budget": ["debug", "fetch not retried: the retry budget is used up"],
  "plan-built": ["debug", "an operation was planned"],
  "plan-failed": ["warn", "an operation could not be planned"],
  "planner-replaced": ["warn", "a planner thread was replaced"],
  "plan-started": ["debug", "a planner worker started a job"],
  "cache-evicted": ["debug", "cache entry evicted"],
  "plan-cache-hit": ["debug", "plan cache hit"],
  "plan-cache-miss": ["debug", "plan cache miss"],
  "entity-cache-read": ["debug", "entity cache read"],
  "entity-cache-repeat": ["debug", "fetch repeated with credentials"],
  "plan-compiled": ["debug", "a query plan was compiled"],
  "token-keys-fetched": ["debug", "token keys fetched"],
  "request-rejected": ["debug", "request rejected"],
  "client-disconnected": ["debug", "client disconnected; its fetches were aborted"],
  "response-truncated": ["debug", "connection closed: the client did not read its response in time"],
  "connection-closed": ["debug", "connection closed: its address holds too much of what all clients share"],
  "internal-error": ["error", "bug: a request failed inside the gateway"],
};

/** @param failures logs observations that repeat during an outage. */
export function createObservationLog(log: Log, failures: FailureLog): (observation: LoggedObservation) => void {
  return (observation) => {
    if (observation.kind === "library-log") return log[observation.level](observation.text);
    if (observation.kind === "dns-lookup-failed")
      return reportFailure(failures, { ...observation, replica: observation.host }, "LOOKUP_FAILED");
    if (observation.kind === "token-keys-failed")
      return reportFailure(
        failures,
        { ...observation, service: "token-issuer", replica: undefined },
        "KEYS_UNAVAILABLE",
      );
    if (observation.kind === "subgraph-response-invalid")
      return reportFailure(failures, observation, "RESPONSE_INVALID");
    if (observation.kind === "values-rejected")
      return reportFailure(failures, { ...observation, replica: undefined }, observation.code);
    if (observation.kind === "subgraph-fetch-failed") return reportFailure(failures, observation, observation.code);
    if (observation.kind === "subgraph-errors" && observation.code !== undefined)
      return reportFailure(failures, observation, observation.code);
    const [level, message] = logLines[observation.kind];
    const { kind, ...fields } = observation;
    log[level]({ observation: kind, ...toLogFields(fields) }, message);
  };
}

function reportFailure(failures: FailureLog, observation: FailureObservation, reason: string): void {
  const { kind, service, replica, ...details } = observation;
  const logFields = { observation: kind, ...toLogFields(details) };
  failures.report({ service, replica, reason }, logFields, failureMessages[kind]);
}

/** The log fields have the same names in all processes. */
function toLogFields(fields: object): object {
  const hasCause = "cause" in fields;
  const needsOtherNames = hasCause || "traceId" in fields;
  if (!needsOtherNames) return fields;
  const { traceId, cause, ...rest } = fields as { readonly traceId?: string; readonly cause?: unknown };
  const logFields: Record<string, unknown> = { ...rest };
  if (traceId !== undefined) logFields["trace_id"] = traceId;
  if (hasCause) logFields["err"] = cause instanceof Error ? cause : new Error(String(cause));
  return logFields;
}

/** The logger that Apollo's libraries get. Their `info` lines are `debug` lines of the gateway. */
export function createLibraryLogger(observe: (observation: LoggedObservation) => void) {
  const logAt = (level: Level) => (message?: unknown) => {
    const text = message instanceof Error ? (message.stack ?? message.message) : String(message);
    observe({ kind: "library-log", level, text });
  };
  return { debug: logAt("debug"), info: logAt("debug"), warn: logAt("warn"), error: logAt("error") };
}
