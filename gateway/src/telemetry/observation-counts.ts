// Counts observations. Client requests and fetches have their own observers.
import {
  countEntryPointObservations,
  handleByKind,
  type ObservationHandlers,
} from "@tributary/kit/telemetry/entry-point-observations";
import type { gatewayMetrics } from "@tributary/kit/telemetry/metrics/declarations/gateway-metrics";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { GatewayObservation, GatewayObserver } from "../observations.ts";

type Handlers = ObservationHandlers<GatewayObservation>;

export function createObservationCounts(metrics: Metrics<typeof gatewayMetrics>): GatewayObserver {
  const disconnected = metrics.counter("tributary_gateway_clients_disconnected_total");
  const truncated = metrics.counter("tributary_gateway_responses_truncated_total");
  const invalid = metrics.counter("tributary_gateway_subgraph_responses_invalid_total");
  const rejected = metrics.counter("tributary_gateway_rejected_total");
  return handleByKind<GatewayObservation>({
    // A request that was read is counted when its response is closed.
    "broken-request": ({ code, status }) => rejected.add({ code, status }),
    ...countEntryPointObservations("subgraph", {
      retries: metrics.counter("tributary_gateway_subgraph_retries_total"),
      retriesOverBudget: metrics.counter("tributary_gateway_subgraph_retries_over_budget_total"),
      ejections: metrics.counter("tributary_gateway_replica_ejections_total"),
      ejected: metrics.gauge("tributary_gateway_replicas_ejected"),
      breakerOpen: metrics.gauge("tributary_gateway_breaker_open"),
      lookupFailures: metrics.counter("tributary_gateway_lookup_failures_total"),
      keyFetches: metrics.counter("tributary_gateway_token_key_fetches_total"),
      connectionsClosed: metrics.counter("tributary_gateway_connections_closed_total"),
    }),
    ...countPlans(metrics),
    ...countLoads(metrics),
    ...countDocumentLoads(metrics),
    ...countEntityCache(metrics),
    "client-disconnected": () => disconnected.add({}),
    "response-truncated": () => truncated.add({}),
    "subgraph-response-invalid": ({ service }) => invalid.add({ subgraph: service }),
  });
}

function countPlans(metrics: Metrics<typeof gatewayMetrics>): Handlers {
  const plans = metrics.counter("tributary_gateway_plans_total");
  const seconds = metrics.histogram("tributary_gateway_plan_duration_seconds");
  const replaced = metrics.counter("tributary_gateway_planners_replaced_total");
  const waits = metrics.histogram("tributary_gateway_planner_queue_wait_seconds");
  const evictions = metrics.counter("tributary_gateway_cache_evictions_total");
  return {
    "plan-cache-hit": () => plans.add({ result: "hit" }),
    "plan-cache-miss": () => plans.add({ result: "miss" }),
    "plan-built": ({ tookMs }) => {
      plans.add({ result: "built" });
      seconds.observe({}, tookMs / 1_000);
    },
    "plan-failed": () => plans.add({ result: "failed" }),
    "planner-replaced": () => replaced.add({}),
    "plan-started": ({ waitedMs }) => waits.observe({}, waitedMs / 1_000),
    "cache-evicted": ({ cache }) => evictions.add({ cache }),
  };
}

const lookupResults = ["hit", "miss", "bypass", "stale"] as const;

function countEntityCache(metrics: Metrics<typeof gatewayMetrics>): Handlers {
  const lookups = metrics.counter("tributary_gateway_entity_cache_lookups_total");
  const repeats = metrics.counter("tributary_gateway_entity_cache_repeats_total");
  return {
    // A fetch that was sent without credentials is repeated with them.
    "entity-cache-repeat": ({ service }) => repeats.add({ subgraph: service }),
    "entity-cache-read": ({ service, results }) => {
      for (const result of lookupResults) {
        const count = results[result] ?? 0;
        if (count > 0) lookups.add({ subgraph: service, result }, count);
      }
    },
  };
}

function countDocumentLoads(metrics: Metrics<typeof gatewayMetrics>): Handlers {
  const loads = metrics.counter("tributary_gateway_documents_loads_total");
  const countUnavailable = () => loads.add({ result: "unavailable" });
  return {
    "documents-loaded": () => loads.add({ result: "loaded" }),
    "documents-rejected": () => loads.add({ result: "rejected" }),
    "documents-unavailable": countUnavailable,
    "documents-still-unavailable": countUnavailable,
  };
}

function countLoads(metrics: Metrics<typeof gatewayMetrics>): Handlers {
  const loads = metrics.counter("tributary_gateway_supergraph_loads_total");
  const loadedAt = metrics.gauge("tributary_gateway_supergraph_loaded_timestamp_seconds");
  const unknownVariables = metrics.gauge("tributary_gateway_unknown_subgraph_variables");
  /** Environment variables that name no subgraph of the supergraph that is being loaded. Supergraphs are loaded one at a time. */
  let unknownCount = 0;
  const endLoad = (result: "loaded" | "rejected" | "failed") => {
    loads.add({ result });
    unknownCount = 0;
  };
  const countUnavailable = () => loads.add({ result: "unavailable" });
  return {
    "supergraph-loaded": ({ subgraphs }) => {
      loadedAt.set({}, Date.now() / 1_000);
      unknownVariables.set({}, unknownCount);
      // Exports 0 for each subgraph, so that rates include its first event.
      for (const subgraph of subgraphs) metrics.announce({ subgraph });
      endLoad("loaded");
    },
    "deprecated-elements": ({ elements }) => {
      for (const client of ["other", "unnamed"])
        for (const element of elements) metrics.announce({ element, client, verified: "false" });
    },
    "supergraph-rejected": () => endLoad("rejected"),
    "supergraph-load-failed": () => endLoad("failed"),
    "supergraph-unavailable": countUnavailable,
    // Counted at every poll: the alert fires while the counter grows.
    "supergraph-still-unavailable": countUnavailable,
    "variable-without-subgraph": () => {
      unknownCount++;
    },
  };
}
