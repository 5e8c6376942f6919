import { type MetricDeclaration, type MetricDeclarations, okOrFailed } from "./metric-declaration.ts";

/** Every process except the issuer. */
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

/** `endpoint` is graphql (the gateway), rest (the REST proxy) or service. */
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

/** `class` is requests (of the gateway only), reads or writes. */
export const rateLimitMetrics = {
  tributary_rate_limit_rejections_total: {
    kind: "counter",
    help: "Charges that exceed the rate limit of their caller, by endpoint (graphql, rest) and class (requests: on arrival at the gateway; reads, writes).",
    labels: ["endpoint", "class"],
    expected: { class: ["requests", "reads", "writes"] },
  },
  tributary_rate_limit_lease_misses_total: {
    kind: "counter",
    help: "Charges rejected for lack of a lease while the shared limit may have had units left.",
    labels: ["endpoint", "class"],
    expected: { class: ["requests", "reads", "writes"] },
  },
  tributary_rate_limit_store_calls_total: {
    kind: "counter",
    help: "Calls of the rate limit store by result: ok, failed (an error, or no response within 50 ms).",
    labels: ["result"],
    expected: { result: okOrFailed },
  },
  tributary_rate_limit_store_unavailable: {
    kind: "gauge",
    help: "1 during an outage of the rate limit store, in which each process counts its share of the limits; 0 otherwise, and without a store.",
    labels: [],
  },
} as const satisfies MetricDeclarations;

/** A service without a feed has no series. */
export const feedMetrics = {
  tributary_feed_up: {
    kind: "gauge",
    help: "1 while the process follows the change feed of the service; 0 while it does not, and from the start of the process until it does.",
    labels: ["service"],
  },
} as const satisfies MetricDeclarations;

export const requestsInFlight = {
  kind: "gauge",
  help: "Requests in flight.",
  labels: [],
} as const satisfies MetricDeclaration;

export const connectionsClosed = {
  kind: "counter",
  help: "Connections closed because their address holds too much of what all clients share, by reason: connections-of-address (a further connection), incomplete-requests, incomplete-bytes (the slowest half-sent request).",
  labels: ["reason"],
  expected: { reason: ["connections-of-address", "incomplete-requests", "incomplete-bytes"] },
} as const satisfies MetricDeclaration;

export const tokenKeyFetches = {
  kind: "counter",
  help: "Fetches of the token issuer's keys by result: ok, failed.",
  labels: ["result"],
  expected: { result: okOrFailed },
} as const satisfies MetricDeclaration;

/** @param upstream the label that names the server: `subgraph` or `service`. */
export function declareReplicaMetrics<const Upstream extends string>(upstream: Upstream) {
  return {
    ejections: {
      kind: "counter",
      help: "Ejections of replicas after repeated failures, or because they are slow.",
      labels: [upstream],
    },
    ejected: {
      kind: "gauge",
      help: "Replicas that are currently ejected, by reason: failing (no response, or 502, 503 or 504) or slow (more than three times as slow as the others).",
      labels: [upstream, "reason"],
      expected: { reason: ["failing", "slow"] },
    },
    breakerOpen: {
      kind: "gauge",
      help: `1 while requests to a ${upstream} fail at once, because no replica of it responds; otherwise 0.`,
      labels: [upstream],
    },
    lookupFailures: {
      kind: "counter",
      help: `Failed DNS lookups of a ${upstream}'s host name; its last addresses remain in use.`,
      labels: [upstream],
    },
  } as const satisfies MetricDeclarations;
}
