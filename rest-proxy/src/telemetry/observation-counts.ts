import { countEntryPointObservations, handleByKind } from "@tributary/kit/telemetry/entry-point-observations";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/declarations/rest-proxy-metrics";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { Observation, Observe } from "./observations.ts";

export function createObservationCounts(metrics: Metrics<typeof restMetrics>): Observe {
  const truncated = metrics.counter("tributary_rest_responses_truncated_total");
  const rejected = metrics.counter("tributary_rest_rejected_total");
  return handleByKind<Observation>({
    ...countEntryPointObservations("service", {
      retries: metrics.counter("tributary_rest_service_retries_total"),
      retriesOverBudget: metrics.counter("tributary_rest_service_retries_over_budget_total"),
      ejections: metrics.counter("tributary_rest_replica_ejections_total"),
      ejected: metrics.gauge("tributary_rest_replicas_ejected"),
      breakerOpen: metrics.gauge("tributary_rest_breaker_open"),
      lookupFailures: metrics.counter("tributary_rest_lookup_failures_total"),
      keyFetches: metrics.counter("tributary_rest_token_key_fetches_total"),
      connectionsClosed: metrics.counter("tributary_rest_connections_closed_total"),
    }),
    // A request that was read is counted when its response is closed.
    unreadable: ({ rejection }) => rejected.add({ code: rejection }),
    "response-truncated": ({ service }) => truncated.add({ side: service === undefined ? "client" : "service" }),
  });
}
