import { type ErrorCode, statusOf } from "../../errors/app-error.ts";

/**
 * Every metric that our processes export, by the process that does. Dashboards, alerts and their test read it too: a name that is not here
 * is exported by nobody.
 *
 * Units are at the end of names: `_seconds`, `_bytes`; what only grows ends in `_total` (https://prometheus.io/docs/practices/naming/). Each
 * label has few values: of our own code, schema, routes or configuration, or `other` for whatever else a caller sends.
 */
export interface MetricDeclaration {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds, ascending, in the unit of the name. */
  readonly buckets?: readonly number[];
  /**
   * Values of a label that are known before the first event: each is exported as 0 from the start, or as soon as the values of the other
   * labels are known (`Metrics.announce`, or an event with them). Other values may come.
   */
  readonly expected?: Readonly<Record<string, readonly (string | number)[]>>;
}

export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;

/** The expected values of a label, for the code that counts them. */
export type Expected<D extends MetricDeclaration, Label extends keyof NonNullable<D["expected"]>> = NonNullable<
  D["expected"]
>[Label][number];

/** From a cached answer to the longest deadline that a door gives. */
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
/** From a key lookup to STATEMENT_TIMEOUT_MS. */
const statementSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

const errorCodes = Object.keys(statusOf) as ErrorCode[];
/** 500, 502, 503, 504. */
const serverErrorStatuses = [...new Set<number>(Object.values(statusOf))].filter((status) => status >= 500);

/** Of every process, beside what prom-client tells of process and runtime (`runtimeMetricNames`). */
export const processMetrics = {
  tributary_build_info: {
    kind: "gauge",
    help: "1, with what runs here: version, source revision, and the supergraph that is served (none where there is none), and the service.instance.id of this process's spans.",
    labels: ["version", "revision", "supergraph", "instance_id"],
  },
  tributary_log_lines_total: {
    kind: "counter",
    help: "Log lines of level warn and above. An error is a bug of ours.",
    labels: ["level"],
    expected: { level: ["warn", "error", "fatal"] },
  },
} as const satisfies MetricDeclarations;

/** Of the four services. `route` is a declared path such as `/v1/things/:id`, or the root field that is asked for; `several`, `other`. */
export const serviceMetrics = {
  tributary_service_requests_total: {
    kind: "counter",
    help: "Requests answered, by door (graphql, rest), route, method and status; 499 when the caller left first.",
    labels: ["door", "route", "method", "status"],
    expected: { status: [401, 500, 503] },
  },
  tributary_service_request_duration_seconds: {
    kind: "histogram",
    help: "From a request's headers to the end of its answer.",
    labels: ["door", "route"],
    buckets: requestSeconds,
  },
  tributary_service_requests_in_flight: {
    kind: "gauge",
    help: "Requests under way.",
    labels: [],
  },
  tributary_service_graphql_errors_total: {
    kind: "counter",
    help: "Entries of errors[] in GraphQL answers, by code: their status is 200.",
    labels: ["code"],
    expected: { code: [...errorCodes, "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"] },
  },
  tributary_service_database_statement_duration_seconds: {
    kind: "histogram",
    help: "SQL statements by name, with the wait for a connection; outcome is ok, refused (by a constraint: a caller's affair) or failed.",
    labels: ["statement", "outcome"],
    expected: { outcome: ["ok", "refused", "failed"] },
    buckets: statementSeconds,
  },
  tributary_service_token_keys_asked_total: {
    kind: "counter",
    help: "How often the issuer was asked for its keys, by result: given, failed.",
    labels: ["result"],
    expected: { result: ["given", "failed"] },
  },
  tributary_service_database_connections: {
    kind: "gauge",
    help: "Connections of the pool by state: idle, used.",
    labels: ["state"],
  },
  tributary_service_database_connections_max: {
    kind: "gauge",
    help: "How many connections the pool may have.",
    labels: [],
  },
  tributary_service_database_waiting: {
    kind: "gauge",
    help: "Statements and transactions that wait for a connection.",
    labels: [],
  },
} as const satisfies MetricDeclarations;

/** Of the gateway. `client` is a known name, `other` or `unnamed`; `operation` too, where a name is known after 100 admitted requests. */
export const gatewayMetrics = {
  tributary_gateway_requests_total: {
    kind: "counter",
    help: "Requests to /graphql answered, by path (fast, full), client and status; 499 when the client left first.",
    labels: ["path", "client", "status"],
    expected: { path: ["fast", "full"], status: [200, 500, 503] },
  },
  tributary_gateway_request_duration_seconds: {
    kind: "histogram",
    help: "From a request's headers to the end of its answer, by path.",
    labels: ["path"],
    expected: { path: ["fast", "full"] },
    buckets: requestSeconds,
  },
  tributary_gateway_operations_total: {
    kind: "counter",
    help: "Operations by name and outcome: ok, partial (data and errors), failed (no data), refused (nothing ran), aborted (the client left first).",
    labels: ["operation", "outcome"],
    expected: { outcome: ["ok", "partial", "failed", "refused", "aborted"] },
  },
  tributary_gateway_operation_duration_seconds: {
    kind: "histogram",
    help: "From a request's headers to the end of its answer, by operation.",
    labels: ["operation"],
    buckets: requestSeconds,
  },
  tributary_gateway_errors_total: {
    kind: "counter",
    help: "Entries of errors[] in answers, by their published code.",
    labels: ["code"],
  },
  tributary_gateway_refused_total: {
    kind: "counter",
    help: "Requests refused before anything ran, by code.",
    labels: ["code"],
  },
  tributary_gateway_requests_in_flight: {
    kind: "gauge",
    help: "Requests under way.",
    labels: [],
  },
  tributary_gateway_clients_gone_total: {
    kind: "counter",
    help: "Clients that left before their answer; their fetches were aborted.",
    labels: [],
  },
  tributary_gateway_answers_cut_total: {
    kind: "counter",
    help: "Answers cut because the client did not read them in time.",
    labels: [],
  },
  tributary_gateway_plans_total: {
    kind: "counter",
    help: "Query plans by what became of the request for one: hit, miss, built, failed.",
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
    help: "Operations that wait for a planner, beside those that one is at.",
    labels: [],
  },
  tributary_gateway_planner_queue_wait_seconds: {
    kind: "histogram",
    help: "How long operations waited for a planner; without those that none took.",
    labels: [],
    buckets: requestSeconds,
  },
  tributary_gateway_cache_entries: {
    kind: "gauge",
    help: "Entries of each cache of the current supergraph: documents, plans, introspection, persisted-queries.",
    labels: ["cache"],
  },
  tributary_gateway_cache_bytes: {
    kind: "gauge",
    help: "Estimated bytes that the entries of each cache retain: documents with what is compiled for them, plans, introspection, persisted-queries.",
    labels: ["cache"],
  },
  tributary_gateway_cache_evictions_total: {
    kind: "counter",
    help: "Evicted entries, by cache: documents, plans, introspection, persisted-queries.",
    labels: ["cache"],
    expected: { cache: ["documents", "plans", "introspection", "persisted-queries"] },
  },
  tributary_gateway_planners_replaced_total: {
    kind: "counter",
    help: "Planner threads that died or did not come to an end, and were replaced.",
    labels: [],
  },
  tributary_gateway_subgraph_fetches_total: {
    kind: "counter",
    help: "Fetches by subgraph and outcome: ok, errors, the code of what failed, or aborted: the client left first.",
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
    help: "Fetches from the request to the whole answer, retries included; without those that were aborted because the client left.",
    labels: ["subgraph"],
    buckets: requestSeconds,
  },
  tributary_gateway_subgraph_fetches_in_flight: {
    kind: "gauge",
    help: "Fetches under way.",
    labels: ["subgraph"],
  },
  tributary_gateway_subgraph_answers_misshapen_total: {
    kind: "counter",
    help: "Answers that are GraphQL and whose entities are not those that were asked for; an answer that is none at all is a fetch that failed.",
    labels: ["subgraph"],
  },
  tributary_gateway_subgraph_fetches_shared_total: {
    kind: "counter",
    help: "Fetches that took the answer of an equal one under way.",
    labels: ["subgraph"],
  },
  tributary_gateway_subgraph_retries_total: {
    kind: "counter",
    help: "Fetches tried once more, on another replica where there is one.",
    labels: ["subgraph"],
  },
  tributary_gateway_subgraph_retries_refused_total: {
    kind: "counter",
    help: "Fetches that were not tried once more because the budget of retries was used up.",
    labels: ["subgraph"],
  },
  tributary_gateway_replica_ejections_total: {
    kind: "counter",
    help: "Replicas left out for a while because they kept failing.",
    labels: ["subgraph"],
  },
  tributary_gateway_replicas_ejected: {
    kind: "gauge",
    help: "Replicas that are left out now.",
    labels: ["subgraph"],
  },
  tributary_gateway_lookup_failures_total: {
    kind: "counter",
    help: "Lookups of a subgraph's host name that failed; its last addresses go on.",
    labels: ["subgraph"],
  },
  tributary_gateway_supergraph_loads_total: {
    kind: "counter",
    help: "Supergraphs by result: loaded, refused (it cannot be used), unavailable (it cannot be read).",
    labels: ["result"],
    expected: { result: ["loaded", "refused", "unavailable"] },
  },
  tributary_gateway_unknown_subgraph_variables: {
    kind: "gauge",
    help: "Variables SUBGRAPH_URL_<NAME> and SUBGRAPH_KEY_CHECK_<NAME> that name no subgraph of the served supergraph.",
    labels: [],
  },
  tributary_gateway_supergraph_loaded_timestamp_seconds: {
    kind: "gauge",
    help: "When the supergraph that is served was loaded, in seconds since 1970.",
    labels: [],
  },
} as const satisfies MetricDeclarations;

/** Of the REST proxy. `route` is a path of the route table such as `/things/:id`, or `other`; `client` a known name, `other`, or `unnamed`. */
export const restMetrics = {
  tributary_rest_requests_total: {
    kind: "counter",
    help: "Requests answered, by route, version, method and status; 499 when the client left first.",
    labels: ["route", "version", "method", "status"],
    expected: { status: serverErrorStatuses },
  },
  tributary_rest_request_duration_seconds: {
    kind: "histogram",
    help: "From a request's headers to the end of its answer.",
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
    help: "Requests in versions older than the newest: who has to be told before one goes.",
    labels: ["client", "version", "route"],
  },
  tributary_rest_refused_total: {
    kind: "counter",
    help: "Requests that the proxy refused itself, by code.",
    labels: ["code"],
    expected: { code: errorCodes },
  },
  tributary_rest_requests_in_flight: {
    kind: "gauge",
    help: "Requests under way.",
    labels: [],
  },
  tributary_rest_answers_cut_total: {
    kind: "counter",
    help: "Answers cut in the middle, by who stopped: service, client.",
    labels: ["side"],
    expected: { side: ["service", "client"] },
  },
  tributary_rest_service_requests_total: {
    kind: "counter",
    help: "Requests to services by outcome: ok, 5xx, or the code of what failed.",
    labels: ["service", "outcome"],
    expected: {
      outcome: [
        "ok",
        "5xx",
        "CLIENT_GONE",
        "BAD_GATEWAY",
        "GATEWAY_TIMEOUT",
        "SERVICE_UNAVAILABLE",
        "INTERNAL_SERVER_ERROR",
      ],
    },
  },
  tributary_rest_service_request_duration_seconds: {
    kind: "histogram",
    help: "Requests to services until the head of their answer, retries included.",
    labels: ["service"],
    buckets: requestSeconds,
  },
  tributary_rest_service_requests_in_flight: {
    kind: "gauge",
    help: "Requests to services under way.",
    labels: ["service"],
  },
  tributary_rest_service_retries_total: {
    kind: "counter",
    help: "Requests tried once more, on another replica where there is one.",
    labels: ["service"],
  },
  tributary_rest_service_retries_refused_total: {
    kind: "counter",
    help: "Requests that were not tried once more because the budget of retries was used up.",
    labels: ["service"],
  },
  tributary_rest_replica_ejections_total: {
    kind: "counter",
    help: "Replicas left out for a while because they kept failing.",
    labels: ["service"],
  },
  tributary_rest_replicas_ejected: {
    kind: "gauge",
    help: "Replicas that are left out now.",
    labels: ["service"],
  },
  tributary_rest_lookup_failures_total: {
    kind: "counter",
    help: "Lookups of a service's host name that failed; its last addresses go on.",
    labels: ["service"],
  },
  tributary_rest_cache_requests_total: {
    kind: "counter",
    help: "Requests to the cache by result: hit, not-modified, miss, collapsed, revalidated, passed, stale-while-revalidate, stale-if-error.",
    labels: ["result"],
    expected: {
      result: [
        "hit",
        "not-modified",
        "miss",
        "collapsed",
        "revalidated",
        "passed",
        "stale-while-revalidate",
        "stale-if-error",
      ],
    },
  },
  tributary_rest_cache_bytes: {
    kind: "gauge",
    help: "What the cache holds, headers and keys too.",
    labels: [],
  },
  tributary_rest_cache_bytes_max: {
    kind: "gauge",
    help: "What the cache may hold.",
    labels: [],
  },
  tributary_rest_cache_entries: {
    kind: "gauge",
    help: "Answers that the cache holds.",
    labels: [],
  },
  tributary_rest_cache_invalidated_total: {
    kind: "counter",
    help: "Stored answers taken back because a write made them untrue.",
    labels: [],
  },
  tributary_rest_cache_evicted_bytes_total: {
    kind: "counter",
    help: "Bytes of stored answers that had to make room.",
    labels: [],
  },
  tributary_rest_cache_refresh_failures_total: {
    kind: "counter",
    help: "Stored answers that could not be renewed in the background; they are used until they are too old.",
    labels: [],
  },
} as const satisfies MetricDeclarations;

/** What prom-client exports of each process by itself, as far as dashboards and alerts may use it. */
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

/** What each kind of process exports. */
export const metricsOf = {
  service: { ...processMetrics, ...serviceMetrics },
  gateway: { ...processMetrics, ...gatewayMetrics },
  rest: { ...processMetrics, ...restMetrics },
} as const satisfies Record<string, MetricDeclarations>;
