// The log lines of observations: the only place where their levels and messages are chosen.
import type { FeedStateObservation } from "@tributary/kit/feed/feed-telemetry";
import type { Log } from "@tributary/kit/process/log";
import {
  entryPointFailures,
  entryPointLogLines,
  handleByKind,
  type LogLine,
} from "@tributary/kit/telemetry/entry-point-observations";
import type { Failure, FailureLog } from "@tributary/kit/telemetry/failure-log";
import type { GatewayObservation } from "../observations.ts";

/** The states of feeds are logged by `createFeedStateObserver`, as in all processes. */
type LoggedObservation = Exclude<GatewayObservation, FeedStateObservation>;

const identifyFailure = handleByKind<LoggedObservation, Failure | undefined>({
  ...entryPointFailures,
  "subgraph-response-invalid": ({ service, replica }) => ({ service, replica, reason: "RESPONSE_INVALID" }),
  "plan-failed": ({ reason }) => ({ service: "planner", replica: undefined, reason }),
  "values-rejected": ({ service, code }) => ({ service, replica: undefined, reason: code }),
  "subgraph-fetch-failed": ({ service, replica, code }) => ({ service, replica, reason: code }),
  "subgraph-errors": ({ service, replica, code }) =>
    code === undefined ? undefined : { service, replica, reason: code },
});

/** Those that repeat during an outage (`identifyFailure`) are logged by the failure log, at `warn`. */
const logLines: Record<Exclude<LoggedObservation["kind"], "library-log">, LogLine> = {
  ...entryPointLogLines,
  "subgraph-fetch-failed": ["warn", "a fetch from a subgraph failed; further failures are counted"],
  /** Only if all errors are meant for the client, such as FORBIDDEN; `maskedErrorsMessage` is for all other errors. */
  "subgraph-errors": ["debug", "a subgraph reported errors that are meant for the client"],
  "subgraph-response-invalid": [
    "warn",
    "a subgraph's response does not fit the schema; further such responses are counted",
  ],
  "values-rejected": ["warn", "values of a subgraph do not fit the schema; further such responses are counted"],
  "dns-lookup-failed": ["warn", "the name of a subgraph's host cannot be resolved; its last addresses remain in use"],
  "supergraph-loaded": ["info", "serving a new supergraph"],
  "supergraph-unavailable": ["warn", "the supergraph cannot be read; if one is loaded, it remains in use"],
  "supergraph-still-unavailable": ["debug", "the supergraph cannot be read yet"],
  "supergraph-available": ["info", "the supergraph can be read again"],
  "supergraph-rejected": ["error", "the supergraph cannot be used; if one is loaded, it remains in use"],
  "supergraph-load-failed": ["error", "the supergraph could not be loaded; the gateway tries again"],
  "supergraph-restored": ["warn", "serving the last accepted supergraph from disk until the source has one"],
  "last-good-unreadable": ["warn", "the last accepted version cannot be read from disk"],
  "last-good-unwritable": [
    "warn",
    "the accepted version cannot be written to disk: a start without its source has none",
  ],
  "documents-loaded": ["info", "new registered documents are in use"],
  "documents-rejected": ["error", "the registered documents cannot be used; those in use remain"],
  "documents-invalid": ["warn", "registered documents are not valid in this supergraph; their clients get errors"],
  "documents-unavailable": ["warn", "the registered documents cannot be read; those in use remain"],
  "documents-still-unavailable": ["debug", "the registered documents cannot be read yet"],
  "documents-available": ["info", "the registered documents can be read again"],
  "documents-restored": ["warn", "the last accepted documents from disk are in use until the source has some"],
  "subgraph-without-address": ["warn", "a subgraph has no address; set SUBGRAPH_URL_<NAME>"],
  "variable-without-subgraph": ["warn", "a variable for one subgraph names no subgraph of this supergraph"],
  "settings-loaded": ["info", "new settings take effect"],
  "settings-rejected": ["error", "the settings are invalid; the settings in use remain"],
  "settings-unreadable": ["error", "the settings cannot be read; the settings in use remain"],
  "settings-need-restart": ["warn", "settings have changed that take effect at the next start"],
  "setting-without-subgraph": ["warn", "a setting for one subgraph names no subgraph of this supergraph"],
  "directives-without-effect": ["warn", "directives of federation in this supergraph have no effect in this gateway"],
  "custom-directives": ["info", "custom directives in this supergraph have no effect in this gateway"],
  "deprecated-elements": ["debug", "clients of these deprecated elements are counted"],
  "override-label-without-field": ["warn", "a label of OVERRIDE_LABELS is on no field of this supergraph"],
  "key-check-stopped": [
    "warn",
    "a subgraph did not return the key of an entity; for a while, keys of this type are not checked",
  ],
  "request-split": [
    "warn",
    "a subgraph rejected a document, but not all of its parts: they are sent singly for a minute",
  ],
  retried: ["debug", "fetch retried"],
  "retry-over-budget": ["debug", "fetch not retried: the retry budget is used up"],
  "plan-built": ["debug", "an operation was planned"],
  "plan-failed": ["warn", "an operation could not be planned; further ones are counted"],
  "planner-replaced": ["warn", "a planner thread was replaced"],
  "plan-started": ["debug", "a planner worker started a job"],
  "cache-evicted": ["debug", "cache entry evicted"],
  "plan-cache-hit": ["debug", "plan cache hit"],
  "plan-cache-miss": ["debug", "plan cache miss"],
  "entity-cache-read": ["debug", "entity cache read"],
  "entity-cache-repeat": ["debug", "fetch repeated with credentials"],
  "plan-compiled": ["debug", "a query plan was compiled"],
  "broken-request": ["debug", "input that is no complete HTTP request was rejected"],
  "request-rejected": ["debug", "request rejected"],
  "client-disconnected": ["debug", "client disconnected; its fetches were aborted"],
  "response-truncated": ["debug", "connection closed: the client did not read its response in time"],
  "internal-error": ["error", "bug: a request failed inside the gateway"],
};

const maskedErrorsMessage = "a subgraph reported an internal error; further responses with such errors are counted";

/** @param failures logs observations that repeat during an outage. */
export function createObservationLog(log: Log, failures: FailureLog): (observation: LoggedObservation) => void {
  return (observation) => {
    if (observation.kind === "library-log") return log[observation.level](observation.text);
    const { kind, ...details } = observation;
    const fields = { observation: kind, ...toLogFields(details) };
    const [level, message] = logLines[kind];
    const failure = identifyFailure(observation);
    if (failure === undefined) return log[level](fields, message);
    failures.report(failure, fields, kind === "subgraph-errors" ? maskedErrorsMessage : message);
  };
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
  const logAt = (level: LogLine[0]) => (message?: unknown) => {
    const text = message instanceof Error ? (message.stack ?? message.message) : String(message);
    observe({ kind: "library-log", level, text });
  };
  return { debug: logAt("debug"), info: logAt("debug"), warn: logAt("warn"), error: logAt("error") };
}
