import type { Log } from "../process/log.ts";
import type { rateLimitMetrics } from "../telemetry/metrics/declarations/process-metrics.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";
import type { RateLimitObserver } from "./caller-limits.ts";

type Endpoint = "graphql" | "rest";

export interface RateLimitTelemetryOptions {
  readonly metrics: Metrics<typeof rateLimitMetrics>;
  readonly log: Log;
  readonly endpoint: Endpoint;
}

export function createRateLimitObserver({ metrics, log, endpoint }: RateLimitTelemetryOptions): RateLimitObserver {
  const rejections = metrics.counter("tributary_rate_limit_rejections_total");
  const leaseMisses = metrics.counter("tributary_rate_limit_lease_misses_total");
  const storeCalls = metrics.counter("tributary_rate_limit_store_calls_total");
  const storeUnavailable = metrics.gauge("tributary_rate_limit_store_unavailable");
  metrics.announce({ endpoint });
  return (observation) => {
    switch (observation.kind) {
      case "rate-limited":
        return rejections.add({ endpoint, class: observation.requestClass });
      case "lease-missed":
        return leaseMisses.add({ endpoint, class: observation.requestClass });
      case "store-called":
        return storeCalls.add({ result: observation.result });
      case "store-available":
        storeUnavailable.set({}, 0);
        return log.info({}, "rate limit store available: limits are shared");
      case "store-unavailable":
        storeUnavailable.set({}, 1);
        return log.warn(
          { err: observation.cause },
          "rate limit store unavailable: each process counts its share of the limits until it responds",
        );
    }
  };
}
