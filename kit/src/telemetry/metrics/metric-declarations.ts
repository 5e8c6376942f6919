import { type ErrorCode, statusOf } from "../../errors/app-error.ts";

/**
 * Declares every metric, by the kind of process that exports it. The tests of dashboards and alerts read it too.
 *
 * Names end in their unit, `_seconds` or `_bytes`, counters in `_total` (https://prometheus.io/docs/practices/naming/). The values of a label
 * come from the code, the schema, the routes or the configuration, so they are few. Other values that a client sends are counted as `other`.
 */
export interface MetricDeclaration {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds, ascending, in the unit of the name. */
  readonly buckets?: readonly number[];
  /**
   * Values of a label that are known before the first event: each is exported as 0 from the start, or as soon as the values of the other
   * labels are known (`Metrics.announce`, or an event with them). Other values are possible.
   */
  readonly expected?: Readonly<Record<string, readonly (string | number)[]>>;
}

export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;

/** The expected values of a label, for the code that counts them. */
export type Expected<D extends MetricDeclaration, Label extends keyof NonNullable<D["expected"]>> = NonNullable<
  D["expected"]
>[Label][number];

/** From the time of a cached response to the longest request deadline. */
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
/** From the time of a primary key lookup to STATEMENT_TIMEOUT_MS. */
const statementSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

const errorCodes = Object.keys(statusOf) as ErrorCode[];
/** 500, 502, 503, 504. */
const serverErrorStatuses = [...new Set<number>(Object.values(statusOf))].filter((status) => status >= 500);

/** Exported by every process, in addition to prom-client's metrics of process and runtime (`runtimeMetricNames`). */
export const processMetrics = {
  tributary_build_info: {
    kind: "gauge",
    help: "1, with the version, the source revision, the current supergraph (none if there is none), and the service.instance.id of this process's spans.",
    labels: ["version", "revision", "supergraph", "instance_id"],
  },
  tributary_log_lines_total: {
    kind: "counter",
    help: "Log lines of level warn and above. An error is a bug.",
    labels: ["level"],
    expected: { level: ["warn", "error", "fatal"] },
  },
} as const satisfies MetricDeclarations;

/** Exported by the services. `route` is a declared path such as `/v1/things/:id`, the root field of an operation, `several` or `other`. */
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
  tributary_service_requests_in_flight: {
    kind: "gauge",
    help: "Requests in flight.",
    labels: [],
  },
  tributary_service_graphql_errors_total: {
    kind: "counter",
    help: "Entries of errors[] in GraphQL responses with status 200, by code.",
    labels: ["code"],
    expected: { code: [...errorCodes, "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"] },
  },
  tributary_service_database_statement_duration_seconds: {
    kind: "histogram",
    help: "Time of SQL statements by name, with the wait for a connection; outcome is ok, rejected (by a constraint: an error of the client) or failed.",
    labels: ["statement", "outcome"],
    expected: { outcome: ["ok", "rejected", "failed"] },
    buckets: statementSeconds,
  },
  tributary_service_token_key_fetches_total: {
    kind: "counter",
    help: "Fetches of the token issuer's keys by result: ok, failed.",
    labels: ["result"],
    expected: { result: ["ok", "failed"] },
  },
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
    help: "Resets sent on streams of the change feed, after which the client drops all that it has cached of the service: at the start of a stream without a position, and if changes since its position are missing.",
    labels: [],
  },
  tributary_service_feed_database_lost_total: {
    kind: "counter",
    help: "Times that the change feed could not read the database, and ended all its streams.",
    labels: [],
  },
} as const satisfies MetricDeclarations;

/** Exported by the gateway. `client` is a known name, `other` or `unnamed`; so is `operation`, whose names are known after 100 requests that were not rejected. */
export const gatewayMetrics = {
  tributary_gateway_requests_total: {
    kind: "counter",
    help: "Requests to /graphql by path (fast, full), client and status; 499 if the client disconnected first.",
    labels: ["path", "client", "status"],
    expected: { path: ["fast", "full"], status: [200, 500, 503] },
  },
  tributary_gateway_request_duration_seconds: {
    kind: "histogram",
    help: "Time from a request's headers to the end of its response, by path.",
    labels: ["path"],
    expected: { path: ["fast", "full"] },
    buckets: requestSeconds,
  },
  tributary_gateway_operations_total: {
    kind: "counter",
    help: "Operations by name and outcome: ok, partial (data and errors), failed (no data), rejected (nothing was executed), aborted (the client disconnected first).",
    labels: ["operation", "outcome"],
    expected: { outcome: ["ok", "partial", "failed", "rejected", "aborted"] },
  },
  tributary_gateway_operation_duration_seconds: {
    kind: "histogram",
    help: "Time from a request's headers to the end of its response, by operation.",
    labels: ["operation"],
    buckets: requestSeconds,
  },
  tributary_gateway_errors_total: {
    kind: "counter",
    help: "Entries of errors[] in responses, by public code.",
    labels: ["code"],
  },
  tributary_gateway_rejected_total: {
    kind: "counter",
    help: "Requests rejected before execution, by code and status. By media type, a client gets status 200 or another one; 499 if it disconnected first.",
    labels: ["code", "status"],
  },
  tributary_gateway_requests_in_flight: {
    kind: "gauge",
    help: "Requests in flight.",
    labels: [],
  },
  tributary_gateway_clients_disconnected_total: {
    kind: "counter",
    help: "Clients that disconnected before their response; their fetches were aborted.",
    labels: [],
  },
  tributary_gateway_token_key_fetches_total: {
    kind: "counter",
    help: "Fetches of the token issuer's keys by result: ok, failed.",
    labels: ["result"],
    expected: { result: ["ok", "failed"] },
  },
  tributary_gateway_responses_truncated_total: {
    kind: "counter",
    help: "Responses aborted because the client did not read them in time.",
    labels: [],
  },
  tributary_gateway_plans_total: {
    kind: "counter",
    help: "Requests for query plans by result: hit, miss, built, failed.",
    labels: ["result"],
    expected: { result: ["hit", "miss", "built", "failed"] },
  },
  tributary_gateway_plan_duration_seconds: {
    kind: "histogram",
    help: "Time to build a query plan, the wait for a planner included.",
    labels: [],
    buckets: requestSeconds,
  },
  tributary_gateway_planner_queue_length: {
    kind: "gauge",
    help: "Operations waiting for a planner, without those that are being planned.",
    labels: [],
  },
  tributary_gateway_planner_queue_wait_seconds: {
    kind: "histogram",
    help: "Time that operations waited for a planner, without those that were rejected.",
    labels: [],
    buckets: requestSeconds,
  },
  tributary_gateway_cache_entries: {
    kind: "gauge",
    help: "Entries of each cache of the current supergraph: documents, plans, introspection, persisted-queries, entities.",
    labels: ["cache"],
  },
  tributary_gateway_cache_bytes: {
    kind: "gauge",
    help: "Estimated bytes that the entries of each cache retain: documents with their compiled plans, plans, introspection, persisted-queries, entities.",
    labels: ["cache"],
  },
  tributary_gateway_cache_evictions_total: {
    kind: "counter",
    help: "Evicted entries, by cache: documents, plans, introspection, persisted-queries, entities.",
    labels: ["cache"],
    expected: { cache: ["documents", "plans", "introspection", "persisted-queries", "entities"] },
  },
  tributary_gateway_planners_replaced_total: {
    kind: "counter",
    help: "Planner threads that crashed or timed out, and were replaced.",
    labels: [],
  },
  tributary_gateway_subgraph_fetches_total: {
    kind: "counter",
    help: "Fetches by subgraph and outcome: ok, errors, the code of the failure, or aborted (the client disconnected first).",
    labels: ["subgraph", "outcome"],
    expected: {
      outcome: [
        "ok",
        "errors",
        "aborted",
        "SUBGRAPH_UNAVAILABLE",
        "SUBGRAPH_TIMEOUT",
        "SUBGRAPH_BAD_ANSWER",
        "SUBGRAPH_ANSWER_TOO_LARGE",
        "SUBGRAPH_ERROR",
      ],
    },
  },
  tributary_gateway_subgraph_fetch_duration_seconds: {
    kind: "histogram",
    help: "Time from a fetch's request to its complete response, with retries; without those aborted because the client disconnected.",
    labels: ["subgraph"],
    buckets: requestSeconds,
  },
  tributary_gateway_subgraph_fetches_in_flight: {
    kind: "gauge",
    help: "Fetches in flight.",
    labels: ["subgraph"],
  },
  tributary_gateway_subgraph_responses_invalid_total: {
    kind: "counter",
    help: "GraphQL responses whose entities are not the requested ones. A response that is not GraphQL is a failed fetch.",
    labels: ["subgraph"],
  },
  tributary_gateway_subgraph_fetches_shared_total: {
    kind: "counter",
    help: "Fetches that shared the response of an equal fetch in flight.",
    labels: ["subgraph"],
  },
  tributary_gateway_entity_cache_lookups_total: {
    kind: "counter",
    help: "Entities and results of root fields: from the entity cache (hit), fetched for everyone (miss), or fetched for the caller since the last result was the caller's (bypass).",
    labels: ["subgraph", "result"],
    expected: { result: ["hit", "miss", "bypass"] },
  },
  tributary_gateway_entity_cache_repeats_total: {
    kind: "counter",
    help: "Fetches for the entity cache that were repeated with the caller's credentials, since a result is not for everyone.",
    labels: ["subgraph"],
  },
  tributary_gateway_subgraph_retries_total: {
    kind: "counter",
    help: "Retried fetches, on another replica if there is one.",
    labels: ["subgraph"],
  },
  tributary_gateway_subgraph_retries_over_budget_total: {
    kind: "counter",
    help: "Fetches that were not retried because the retry budget was exhausted.",
    labels: ["subgraph"],
  },
  tributary_gateway_replica_ejections_total: {
    kind: "counter",
    help: "Ejections of replicas after repeated failures.",
    labels: ["subgraph"],
  },
  tributary_gateway_replicas_ejected: {
    kind: "gauge",
    help: "Replicas that are currently ejected.",
    labels: ["subgraph"],
  },
  tributary_gateway_lookup_failures_total: {
    kind: "counter",
    help: "Failed DNS lookups of a subgraph's host name; its last addresses remain in use.",
    labels: ["subgraph"],
  },
  tributary_gateway_supergraph_loads_total: {
    kind: "counter",
    help: "Supergraph loads by result: loaded, rejected (invalid), unavailable (cannot be read).",
    labels: ["result"],
    expected: { result: ["loaded", "rejected", "unavailable"] },
  },
  tributary_gateway_unknown_subgraph_variables: {
    kind: "gauge",
    help: "Variables SUBGRAPH_URL_<NAME> and SUBGRAPH_KEY_CHECK_<NAME> that match no subgraph of the current supergraph.",
    labels: [],
  },
  tributary_gateway_supergraph_loaded_timestamp_seconds: {
    kind: "gauge",
    help: "When the current supergraph was loaded, in seconds since 1970.",
    labels: [],
  },
} as const satisfies MetricDeclarations;

/** Exported by the REST proxy. `route` is a path of the route table such as `/things/:id`, or `other`; `client` is a known name, `other` or `unnamed`. */
export const restMetrics = {
  tributary_rest_requests_total: {
    kind: "counter",
    help: "Requests by route, version, method and status; 499 if the client disconnected first.",
    labels: ["route", "version", "method", "status"],
    expected: { status: serverErrorStatuses },
  },
  tributary_rest_request_duration_seconds: {
    kind: "histogram",
    help: "Time from a request's headers to the end of its response.",
    labels: ["route", "version"],
    buckets: requestSeconds,
  },
  tributary_rest_client_requests_total: {
    kind: "counter",
    help: "Requests by client and version.",
    labels: ["client", "version"],
  },
  tributary_rest_old_version_requests_total: {
    kind: "counter",
    help: "Requests in versions older than the newest: the clients to notify before a version is retired.",
    labels: ["client", "version", "route"],
  },
  tributary_rest_rejected_total: {
    kind: "counter",
    help: "Requests that the proxy rejected itself, by code.",
    labels: ["code"],
    expected: { code: errorCodes },
  },
  tributary_rest_requests_in_flight: {
    kind: "gauge",
    help: "Requests in flight.",
    labels: [],
  },
  tributary_rest_token_key_fetches_total: {
    kind: "counter",
    help: "Fetches of the token issuer's keys by result: ok, failed.",
    labels: ["result"],
    expected: { result: ["ok", "failed"] },
  },
  tributary_rest_responses_truncated_total: {
    kind: "counter",
    help: "Responses that were aborted, by the side that stopped: service, client.",
    labels: ["side"],
    expected: { side: ["service", "client"] },
  },
  tributary_rest_service_requests_total: {
    kind: "counter",
    help: "Requests to services by outcome: ok, 5xx, or the code of the failure.",
    labels: ["service", "outcome"],
    expected: {
      outcome: [
        "ok",
        "5xx",
        "CLIENT_DISCONNECTED",
        "BAD_GATEWAY",
        "GATEWAY_TIMEOUT",
        "SERVICE_UNAVAILABLE",
        "INTERNAL_SERVER_ERROR",
      ],
    },
  },
  tributary_rest_service_request_duration_seconds: {
    kind: "histogram",
    help: "Time until the head of a service's response, with retries.",
    labels: ["service"],
    buckets: requestSeconds,
  },
  tributary_rest_service_requests_in_flight: {
    kind: "gauge",
    help: "Requests to services in flight.",
    labels: ["service"],
  },
  tributary_rest_service_retries_total: {
    kind: "counter",
    help: "Retried requests, on another replica if there is one.",
    labels: ["service"],
  },
  tributary_rest_service_retries_over_budget_total: {
    kind: "counter",
    help: "Requests that were not retried because the retry budget was exhausted.",
    labels: ["service"],
  },
  tributary_rest_replica_ejections_total: {
    kind: "counter",
    help: "Ejections of replicas after repeated failures.",
    labels: ["service"],
  },
  tributary_rest_replicas_ejected: {
    kind: "gauge",
    help: "Replicas that are currently ejected.",
    labels: ["service"],
  },
  tributary_rest_lookup_failures_total: {
    kind: "counter",
    help: "Failed DNS lookups of a service's host name; its last addresses remain in use.",
    labels: ["service"],
  },
  tributary_rest_cache_requests_total: {
    kind: "counter",
    help: "Requests to the cache by result: hit, not-modified, miss, collapsed, revalidated, bypass, stale-while-revalidate, stale-if-error.",
    labels: ["result"],
    expected: {
      result: [
        "hit",
        "not-modified",
        "miss",
        "collapsed",
        "revalidated",
        "bypass",
        "stale-while-revalidate",
        "stale-if-error",
      ],
    },
  },
  tributary_rest_cache_bytes: {
    kind: "gauge",
    help: "Size of the cache, with headers and keys.",
    labels: [],
  },
  tributary_rest_cache_bytes_max: {
    kind: "gauge",
    help: "Maximum size of the cache.",
    labels: [],
  },
  tributary_rest_cache_entries: {
    kind: "gauge",
    help: "Cached responses.",
    labels: [],
  },
  tributary_rest_cache_invalidated_total: {
    kind: "counter",
    help: "Cached responses invalidated by a write.",
    labels: [],
  },
  tributary_rest_cache_evicted_bytes_total: {
    kind: "counter",
    help: "Bytes of evicted cache entries.",
    labels: [],
  },
  tributary_rest_cache_refresh_failures_total: {
    kind: "counter",
    help: "Failed background revalidations of cached responses, which are used until they are too old.",
    labels: [],
  },
} as const satisfies MetricDeclarations;

/** Exported by the gateway and the REST proxy. `class` is reads or writes. */
export const rateLimitMetrics = {
  tributary_rate_limit_rejections_total: {
    kind: "counter",
    help: "Charges that exceed the rate limit of their caller, by endpoint (graphql, rest) and class (reads, writes). An operation that is rejected in one class and admitted in the other is counted too.",
    labels: ["endpoint", "class"],
    expected: { class: ["reads", "writes"] },
  },
  tributary_rate_limit_lease_misses_total: {
    kind: "counter",
    help: "Charges rejected because the process had no lease for them, though the shared limit was not known to be used up.",
    labels: ["endpoint", "class"],
    expected: { class: ["reads", "writes"] },
  },
  tributary_rate_limit_store_calls_total: {
    kind: "counter",
    help: "Calls of the rate limit store by result: ok, failed (an error, or no response within 50 ms).",
    labels: ["result"],
    expected: { result: ["ok", "failed"] },
  },
  tributary_rate_limit_store_unavailable: {
    kind: "gauge",
    help: "1 during an outage of the rate limit store, in which each process counts its share of the limits; 0 otherwise, and without a store.",
    labels: [],
  },
} as const satisfies MetricDeclarations;

/** Exported by every process but the issuer. `endpoint` is graphql (the gateway), rest (the REST proxy) or service. */
export const admissionMetrics = {
  tributary_admission_admitted_total: {
    kind: "counter",
    help: "Requests admitted at once or after a wait, by endpoint (graphql, rest, service) and priority class (critical, normal, background). Cache hits of the REST proxy need no admission.",
    labels: ["endpoint", "class"],
    expected: { class: ["critical", "normal", "background"] },
  },
  tributary_admission_rejections_total: {
    kind: "counter",
    help: "Requests rejected because the process is overloaded, by endpoint (graphql, rest, service) and priority class (critical, normal, background; unread: above REQUESTS_IN_FLIGHT_MAX).",
    labels: ["endpoint", "class"],
    expected: { class: ["critical", "normal", "background", "unread"] },
  },
  tributary_admission_in_flight: {
    kind: "gauge",
    help: "Admitted requests in flight.",
    labels: ["endpoint"],
  },
  tributary_admission_limit: {
    kind: "gauge",
    help: "Admitted requests that may be in flight before further ones wait. It falls while the event loop is late.",
    labels: ["endpoint"],
  },
  tributary_admission_waiting: {
    kind: "gauge",
    help: "Requests that wait for admission.",
    labels: ["endpoint"],
  },
} as const satisfies MetricDeclarations;

/** Exported by the purger (infra/purger). `cache` is one of the configured URLs. */
const purgerMetrics = {
  tributary_purger_requests_total: {
    kind: "counter",
    help: "Purges that were sent, by result (ok, failed). A failed one is repeated until the cache accepts it.",
    labels: ["cache", "result"],
    expected: { result: ["ok", "failed"] },
  },
  tributary_purger_tags_total: {
    kind: "counter",
    help: "Tags in purges that the cache accepted; each is sent twice.",
    labels: ["cache"],
  },
  tributary_purger_lag_seconds: {
    kind: "histogram",
    help: "Time from the arrival of a change to the first purge that the cache accepted.",
    labels: ["cache"],
    buckets: requestSeconds,
  },
  tributary_purger_queue_size: {
    kind: "gauge",
    help: "Tags that wait for a purge, also for the second one.",
    labels: ["cache"],
  },
  tributary_purger_overflows_total: {
    kind: "counter",
    help: "How often more than PURGE_QUEUE_MAX tags waited, so that whole services were purged instead.",
    labels: ["cache"],
  },
  tributary_purger_resets_total: {
    kind: "counter",
    help: "How often the whole service was purged because its feed had a gap; one at each start.",
    labels: ["service"],
  },
  tributary_purger_feed_up: {
    kind: "gauge",
    help: "1 while the purger follows the change feed of the service.",
    labels: ["service"],
  },
} as const satisfies MetricDeclarations;

/** prom-client's own metrics that dashboards and alerts may use. */
export const runtimeMetricNames = [
  "process_cpu_seconds_total",
  "process_cpu_user_seconds_total",
  "process_cpu_system_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_seconds",
  "nodejs_eventloop_lag_p50_seconds",
  "nodejs_eventloop_lag_p90_seconds",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_eventloop_lag_max_seconds",
  "nodejs_heap_size_total_bytes",
  "nodejs_heap_size_used_bytes",
  "nodejs_external_memory_bytes",
  "nodejs_gc_duration_seconds",
  "nodejs_active_handles_total",
] as const;

/** The metrics of each kind of process. */
export const metricsOf = {
  service: { ...processMetrics, ...admissionMetrics, ...serviceMetrics },
  gateway: { ...processMetrics, ...admissionMetrics, ...rateLimitMetrics, ...gatewayMetrics },
  rest: { ...processMetrics, ...admissionMetrics, ...rateLimitMetrics, ...restMetrics },
  purger: { ...processMetrics, ...purgerMetrics },
} as const satisfies Record<string, MetricDeclarations>;
