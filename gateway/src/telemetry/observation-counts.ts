// Counts observations. Client requests and fetches have their own observers.
import { createEjectedReplicas, type EjectedReplicas } from "@tributary/kit/telemetry/ejected-replicas";
import type { gatewayMetrics } from "@tributary/kit/telemetry/metrics/declarations/gateway-metrics";
import type { Expected } from "@tributary/kit/telemetry/metrics/declarations/metric-declaration";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { GatewayObservation, GatewayObserver } from "../observations.ts";

export function createObservationCounts(metrics: Metrics<typeof gatewayMetrics>): GatewayObserver {
  const ejected = createEjectedReplicas();
  metrics.gauge("tributary_gateway_replicas_ejected").onScrape((gauge) => {
    for (const [subgraph, count] of ejected.counts()) gauge.set({ subgraph }, count);
  });
  const observers = [
    countRequests(metrics),
    countPlans(metrics),
    countReplicas(metrics, ejected),
    countLoads(metrics),
    countEntityCache(metrics),
  ];
  return (observation) => {
    for (const observe of observers) observe(observation);
  };
}

// Each function below returns an observer that counts some kinds of observations and ignores all others.

function countRequests(metrics: Metrics<typeof gatewayMetrics>): GatewayObserver {
  const disconnected = metrics.counter("tributary_gateway_clients_disconnected_total");
  const truncated = metrics.counter("tributary_gateway_responses_truncated_total");
  const keyFetches = metrics.counter("tributary_gateway_token_key_fetches_total");
  const closed = metrics.counter("tributary_gateway_connections_closed_total");
  return (observation) => {
    const { kind } = observation;
    if (kind === "client-disconnected") disconnected.add({});
    if (kind === "response-truncated") truncated.add({});
    if (kind === "connection-closed") closed.add({ reason: observation.reason });
    if (kind === "token-keys-fetched") keyFetches.add({ result: observation.isOk ? "ok" : "failed" });
  };
}

const planResults: Partial<
  Record<GatewayObservation["kind"], Expected<typeof gatewayMetrics.tributary_gateway_plans_total, "result">>
> = {
  "plan-cache-hit": "hit",
  "plan-cache-miss": "miss",
  "plan-built": "built",
  "plan-failed": "failed",
};

function countPlans(metrics: Metrics<typeof gatewayMetrics>): GatewayObserver {
  const plans = metrics.counter("tributary_gateway_plans_total");
  const seconds = metrics.histogram("tributary_gateway_plan_duration_seconds");
  const replaced = metrics.counter("tributary_gateway_planners_replaced_total");
  const waits = metrics.histogram("tributary_gateway_planner_queue_wait_seconds");
  const evictions = metrics.counter("tributary_gateway_cache_evictions_total");
  return (observation) => {
    const result = planResults[observation.kind];
    if (result !== undefined) plans.add({ result });
    if (observation.kind === "plan-built") seconds.observe({}, observation.tookMs / 1_000);
    if (observation.kind === "planner-replaced") replaced.add({});
    if (observation.kind === "plan-started") waits.observe({}, observation.waitedMs / 1_000);
    if (observation.kind === "cache-evicted") evictions.add({ cache: observation.cache });
  };
}

function countReplicas(metrics: Metrics<typeof gatewayMetrics>, ejected: EjectedReplicas): GatewayObserver {
  const retries = metrics.counter("tributary_gateway_subgraph_retries_total");
  const retriesOverBudget = metrics.counter("tributary_gateway_subgraph_retries_over_budget_total");
  const invalid = metrics.counter("tributary_gateway_subgraph_responses_invalid_total");
  const ejections = metrics.counter("tributary_gateway_replica_ejections_total");
  const lookupFailures = metrics.counter("tributary_gateway_lookup_failures_total");
  return (observation) => {
    if (observation.kind === "retried") retries.add({ subgraph: observation.service });
    if (observation.kind === "retry-over-budget") retriesOverBudget.add({ subgraph: observation.service });
    if (observation.kind === "subgraph-response-invalid") invalid.add({ subgraph: observation.service });
    if (observation.kind === "dns-lookup-failed") lookupFailures.add({ subgraph: observation.service });
    if (observation.kind === "replica-restored" || observation.kind === "replica-removed") {
      ejected.restore(observation.service, observation.replica);
    }
    if (observation.kind === "replica-ejected") {
      ejections.add({ subgraph: observation.service });
      ejected.eject(observation.service, observation.replica);
    }
  };
}

/** `bypass`: fetched with credentials, because an earlier result depended on the caller. */
const lookupResults = ["hit", "miss", "bypass"] as const;

function countEntityCache(metrics: Metrics<typeof gatewayMetrics>): GatewayObserver {
  const lookups = metrics.counter("tributary_gateway_entity_cache_lookups_total");
  const repeats = metrics.counter("tributary_gateway_entity_cache_repeats_total");
  return (observation) => {
    // A fetch that was sent without credentials is repeated with them.
    if (observation.kind === "entity-cache-repeat") repeats.add({ subgraph: observation.service });
    if (observation.kind !== "entity-cache-read") return;
    for (const result of lookupResults) {
      const resultCount = observation.results[result];
      if (resultCount > 0) lookups.add({ subgraph: observation.service, result }, resultCount);
    }
  };
}

const loadResults: Partial<
  Record<GatewayObservation["kind"], Expected<typeof gatewayMetrics.tributary_gateway_supergraph_loads_total, "result">>
> = {
  "supergraph-loaded": "loaded",
  "supergraph-rejected": "rejected",
  "supergraph-load-failed": "failed",
  "supergraph-unavailable": "unavailable",
  // Counted at every poll: the alert fires while the counter grows.
  "supergraph-still-unavailable": "unavailable",
};

function countLoads(metrics: Metrics<typeof gatewayMetrics>): GatewayObserver {
  const loads = metrics.counter("tributary_gateway_supergraph_loads_total");
  const loadedAt = metrics.gauge("tributary_gateway_supergraph_loaded_timestamp_seconds");
  const unknownVariables = metrics.gauge("tributary_gateway_unknown_subgraph_variables");
  /** Environment variables that name no subgraph of the supergraph that is being loaded. Supergraphs are loaded one at a time. */
  let unknownCount = 0;
  return (observation) => {
    const { kind } = observation;
    const result = loadResults[kind];
    if (result !== undefined) loads.add({ result });
    if (kind === "variable-without-subgraph") unknownCount++;
    if (kind === "supergraph-loaded") {
      loadedAt.set({}, Date.now() / 1_000);
      unknownVariables.set({}, unknownCount);
      // Exports 0 for each subgraph, so that rates include its first event.
      for (const subgraph of observation.subgraphs) metrics.announce({ subgraph });
    }
    const isLoadOver =
      kind === "supergraph-loaded" || kind === "supergraph-rejected" || kind === "supergraph-load-failed";
    if (isLoadOver) unknownCount = 0;
  };
}
