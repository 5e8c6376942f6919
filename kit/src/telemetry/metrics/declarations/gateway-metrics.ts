import { type MetricDeclarations, requestSeconds } from "./metric-declaration.ts";
import { connectionsClosed, declareReplicaMetrics, requestsInFlight, tokenKeyFetches } from "./process-metrics.ts";

const { ejections, ejected, breakerOpen, lookupFailures } = declareReplicaMetrics("subgraph");

/** `client` and `operation` are a known name, `other` or `unnamed`; an operation is known after 100 requests that were not rejected. */
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
    help: "Entries of errors[] in responses, by public code: those of the gateway, and the first 100 of subgraphs; then `other`.",
    labels: ["code"],
  },
  tributary_gateway_rejected_total: {
    kind: "counter",
    help: "Requests rejected before execution, by code and status. By media type, a client gets status 200 or another one; 499 if it disconnected first.",
    labels: ["code", "status"],
  },
  tributary_gateway_deprecated_requests_total: {
    kind: "counter",
    help: "Valid requests with a deprecated element of the schema in the document or the variables, by element and client; `verified` is false for a client that only claims its name.",
    labels: ["element", "client", "verified"],
  },
  tributary_gateway_documents_total: {
    kind: "counter",
    help: "While documents.mode is log or enforce: requests with a document or its id, by client, and whether the document is registered (known, unknown).",
    labels: ["client", "document"],
    expected: { document: ["known", "unknown"] },
  },
  tributary_gateway_documents: {
    kind: "gauge",
    help: "Registered documents in the current supergraph: planned, invalid (their clients get errors), or pending.",
    labels: ["state"],
  },
  tributary_gateway_documents_loads_total: {
    kind: "counter",
    help: "Loads of the registered documents by result: loaded, rejected (invalid), unavailable (cannot be read).",
    labels: ["result"],
    expected: { result: ["loaded", "rejected", "unavailable"] },
  },
  tributary_gateway_requests_in_flight: requestsInFlight,
  tributary_gateway_clients_disconnected_total: {
    kind: "counter",
    help: "Clients that disconnected before their response; their fetches were aborted.",
    labels: [],
  },
  tributary_gateway_connections_closed_total: connectionsClosed,
  tributary_gateway_token_key_fetches_total: tokenKeyFetches,
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
        "SUBGRAPH_INVALID_RESPONSE",
        "SUBGRAPH_RESPONSE_TOO_LARGE",
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
    help: "Fetches that were sent with another one: an equal one in flight, or one for other entities.",
    labels: ["subgraph"],
  },
  tributary_gateway_entity_cache_lookups_total: {
    kind: "counter",
    help: "Entities and results of root fields: from the entity cache (hit), fetched for everyone (miss), or fetched for the caller since the last result was the caller's (bypass). Also the stored ones that were used because the subgraph failed (stale; misses count these too).",
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
  tributary_gateway_replica_ejections_total: ejections,
  tributary_gateway_replicas_ejected: ejected,
  tributary_gateway_breaker_open: breakerOpen,
  tributary_gateway_lookup_failures_total: lookupFailures,
  tributary_gateway_supergraph_loads_total: {
    kind: "counter",
    help: "Supergraph loads by result: loaded, rejected (invalid), failed (is tried again), unavailable (cannot be read).",
    labels: ["result"],
    expected: { result: ["loaded", "rejected", "failed", "unavailable"] },
  },
  tributary_gateway_supergraph_stale_seconds: {
    kind: "gauge",
    help: "0 if the last poll of the supergraph's source confirmed the supergraph in use, or none is in use. Otherwise the time since a poll did; for one from disk, since it was accepted.",
    labels: [],
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
