import { statusOf } from "../../../errors/app-error.ts";
import { errorCodes, type MetricDeclarations, requestSeconds } from "./metric-declaration.ts";
import { connectionsClosed, declareReplicaMetrics, requestsInFlight, tokenKeyFetches } from "./process-metrics.ts";

const serverErrorStatuses = [...new Set<number>(Object.values(statusOf))].filter((status) => status >= 500);

const { ejections, ejected, breakerOpen, lookupFailures } = declareReplicaMetrics("service");

/** `route` is a path of the route table (`/things/:id`) or `other`; `client` is a known name, `other` or `unnamed`. */
export const restMetrics = {
  tributary_rest_requests_total: {
    kind: "counter",
    help: "Requests by route, version, method and status; 499 if the client disconnected first, or it failed at the client's deadline.",
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
    help: "Requests in versions older than the newest, by route and client: the clients to notify before a version is retired. `verified` is false for a client that only claims its name.",
    labels: ["client", "verified", "version", "method", "route"],
  },
  tributary_rest_version_retirement_timestamp_seconds: {
    kind: "gauge",
    help: "When a version is deprecated, and when its sunset is, in seconds since 1970, by version and step (deprecation, sunset).",
    labels: ["version", "step"],
  },
  tributary_rest_rejected_total: {
    kind: "counter",
    help: "Requests that the proxy rejected itself, by code.",
    labels: ["code"],
    expected: { code: errorCodes },
  },
  tributary_rest_requests_in_flight: requestsInFlight,
  tributary_rest_connections_closed_total: connectionsClosed,
  tributary_rest_token_key_fetches_total: tokenKeyFetches,
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
  tributary_rest_replica_ejections_total: ejections,
  tributary_rest_replicas_ejected: ejected,
  tributary_rest_breaker_open: breakerOpen,
  tributary_rest_lookup_failures_total: lookupFailures,
  tributary_rest_cache_requests_total: {
    kind: "counter",
    help: "Requests to the cache by result: hit, miss, collapsed, revalidated, bypass, stale-while-revalidate, stale-if-error.",
    labels: ["result"],
    expected: {
      result: ["hit", "miss", "collapsed", "revalidated", "bypass", "stale-while-revalidate", "stale-if-error"],
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
