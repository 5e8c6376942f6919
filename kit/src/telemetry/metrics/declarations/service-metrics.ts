import { errorCodes, type MetricDeclarations, requestSeconds } from "./metric-declaration.ts";
import { requestsInFlight, tokenKeyFetches } from "./process-metrics.ts";

/** From the time of a primary key lookup to STATEMENT_TIMEOUT_MS. */
const statementSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

/** `route` is a declared path such as `/v1/things/:id`, the root field of an operation, `several` or `other`. */
export const serviceMetrics = {
  tributary_service_requests_total: {
    kind: "counter",
    help: "Requests by endpoint (graphql, rest), route, method and status; 499 if the client disconnected first.",
    labels: ["endpoint", "route", "method", "status"],
    expected: { status: [401, 500, 503] },
  },
  tributary_service_request_duration_seconds: {
    kind: "histogram",
    help: "Time from a request's headers to the end of its response.",
    labels: ["endpoint", "route"],
    buckets: requestSeconds,
  },
  tributary_service_requests_in_flight: requestsInFlight,
  tributary_service_graphql_errors_total: {
    kind: "counter",
    help: "Entries of errors[] in GraphQL responses with status 200, by code.",
    labels: ["code"],
    expected: { code: [...errorCodes, "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"] },
  },
  tributary_service_database_statement_duration_seconds: {
    kind: "histogram",
    help: "Time of SQL statements by name, with the wait for a connection; outcome is ok, rejected (by a constraint: an error of the client), cancelled (no caller waited any longer) or failed.",
    labels: ["statement", "outcome"],
    expected: { outcome: ["ok", "rejected", "cancelled", "failed"] },
    buckets: statementSeconds,
  },
  tributary_service_token_key_fetches_total: tokenKeyFetches,
  tributary_service_database_connections: {
    kind: "gauge",
    help: "Connections of the pool by state: idle, used.",
    labels: ["state"],
  },
  tributary_service_database_connections_max: {
    kind: "gauge",
    help: "The maximum number of connections of the pool.",
    labels: [],
  },
  tributary_service_database_waiting: {
    kind: "gauge",
    help: "Statements and transactions waiting for a connection.",
    labels: [],
  },
  tributary_service_feed_streams: {
    kind: "gauge",
    help: "Open streams of the change feed: each gateway and REST proxy process has one, to one replica of the service.",
    labels: [],
  },
  tributary_service_feed_resets_sent_total: {
    kind: "counter",
    help: "Resets sent on streams of the change feed, after which the client drops all that it has cached of the service: at the start of a stream without a position, and if changes since its position are missing or too many.",
    labels: [],
  },
  tributary_service_feed_outbox_changes: {
    kind: "gauge",
    help: "Recorded changes that are not deleted yet, estimated by PostgreSQL and read every 30 s by a replica whose change feed is in use. They are deleted a minute or two after their commit, but not while an older transaction is open.",
    labels: [],
  },
  tributary_service_feed_database_lost_total: {
    kind: "counter",
    help: "Times that the change feed could not read the database, and ended all its streams.",
    labels: [],
  },
} as const satisfies MetricDeclarations;
