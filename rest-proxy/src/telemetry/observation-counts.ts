import { createEjectedReplicas } from "@tributary/kit/telemetry/ejected-replicas";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/declarations/rest-proxy-metrics";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { Observe } from "./observations.ts";

/** Counts observations about replicas, truncated responses and fetches of token keys. Requests, services and the cache have their own observers. */
export function createObservationCounts(metrics: Metrics<typeof restMetrics>): Observe {
  const retries = metrics.counter("tributary_rest_service_retries_total");
  const retriesOverBudget = metrics.counter("tributary_rest_service_retries_over_budget_total");
  const ejections = metrics.counter("tributary_rest_replica_ejections_total");
  const lookupFailures = metrics.counter("tributary_rest_lookup_failures_total");
  const truncated = metrics.counter("tributary_rest_responses_truncated_total");
  const keyFetches = metrics.counter("tributary_rest_token_key_fetches_total");
  const ejected = createEjectedReplicas();
  metrics.gauge("tributary_rest_replicas_ejected").onScrape((gauge) => {
    for (const [service, count] of ejected.counts()) gauge.set({ service }, count);
  });

  return (observation) => {
    if (observation.kind === "response-truncated")
      truncated.add({ side: observation.service === undefined ? "client" : "service" });
    if (observation.kind === "token-keys-fetched") keyFetches.add({ result: observation.isOk ? "ok" : "failed" });
    if (observation.kind === "retried") retries.add({ service: observation.service });
    if (observation.kind === "retry-over-budget") retriesOverBudget.add({ service: observation.service });
    if (observation.kind === "lookup-failed") lookupFailures.add({ service: observation.service });
    if (observation.kind === "replica-restored" || observation.kind === "replica-removed")
      ejected.restore(observation.service, observation.replica);
    if (observation.kind !== "replica-ejected") return;
    ejections.add({ service: observation.service });
    ejected.eject(observation.service, observation.replica);
  };
}
