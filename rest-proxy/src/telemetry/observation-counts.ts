import { createEjectedReplicas } from "@tributary/kit/telemetry/ejected-replicas";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/declarations/rest-proxy-metrics";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { Observe } from "./observations.ts";

export function createObservationCounts(metrics: Metrics<typeof restMetrics>): Observe {
  const retries = metrics.counter("tributary_rest_service_retries_total");
  const retriesOverBudget = metrics.counter("tributary_rest_service_retries_over_budget_total");
  const ejections = metrics.counter("tributary_rest_replica_ejections_total");
  const lookupFailures = metrics.counter("tributary_rest_lookup_failures_total");
  const truncated = metrics.counter("tributary_rest_responses_truncated_total");
  const keyFetches = metrics.counter("tributary_rest_token_key_fetches_total");
  const closed = metrics.counter("tributary_rest_connections_closed_total");
  const ejected = createEjectedReplicas();
  metrics.gauge("tributary_rest_replicas_ejected").onScrape((gauge) => {
    for (const [service, count] of ejected.counts()) gauge.set({ service }, count);
  });

  return (observation) => {
    switch (observation.kind) {
      case "response-truncated":
        return truncated.add({ side: observation.service === undefined ? "client" : "service" });
      case "connection-closed":
        return closed.add({ reason: observation.reason });
      case "token-keys-fetched":
        return keyFetches.add({ result: observation.isOk ? "ok" : "failed" });
      case "retried":
        return retries.add({ service: observation.service });
      case "retry-over-budget":
        return retriesOverBudget.add({ service: observation.service });
      case "dns-lookup-failed":
        return lookupFailures.add({ service: observation.service });
      case "replica-ejected":
        ejections.add({ service: observation.service });
        return ejected.eject(observation.service, observation.replica);
      case "replica-restored":
      case "replica-removed":
        return ejected.restore(observation.service, observation.replica);
      case "replica-draining":
      case "service-failed":
      case "refresh-failed":
      case "bug":
      case "token-keys-failed":
      case "feed-state":
      case "old-versions":
      case "unreadable":
        // Only logged, or counted elsewhere.
        return undefined;
    }
  };
}
