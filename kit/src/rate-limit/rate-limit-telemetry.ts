// Counts and logs the observations of rate limits and of their store.
import type { Log } from "../process/log.ts";
import type { rateLimitMetrics } from "../telemetry/metrics/declarations/process-metrics.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";
import type { RateLimitObserver } from "./rate-limits.ts";

type Endpoint = "graphql" | "rest";

export interface RateLimitTelemetryOptions {
  readonly metrics: Metrics<typeof rateLimitMetrics>;
  readonly log: Log;
  readonly endpoint: Endpoint;
}

/** The `observe` of `createRateLimits`. */
export function createRateLimitObserver({ metrics, log, endpoint }: RateLimitTelemetryOptions): RateLimitObserver {
  const limited = metrics.counter("tributary_rate_limit_rejections_total");
  const misses = metrics.counter("tributary_rate_limit_lease_misses_total");
  const calls = metrics.counter("tributary_rate_limit_store_calls_total");
  const unavailable = metrics.gauge("tributary_rate_limit_store_unavailable");
  metrics.announce({ endpoint });
  return (observation) => {
    switch (observation.kind) {
      case "rate-limited":
        return limited.add({ endpoint, class: observation.requestClass });
      case "lease-missed":
        return misses.add({ endpoint, class: observation.requestClass });
      case "store-called":
        return calls.add({ result: observation.result });
      case "store-available":
        unavailable.set({}, 0);
        return log.info({}, "rate limit store available: limits are shared");
      case "store-unavailable":
        unavailable.set({}, 1);
        return log.warn(
          { err: observation.cause },
          "rate limit store unavailable: each process counts its share of the limits until it responds",
        );
    }
  };
}
