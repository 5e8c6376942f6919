// The gauges of the caches and of the planner's queue.
import type { MapSize } from "@tributary/kit/collections/bounded-map";
import type { gatewayMetrics } from "@tributary/kit/telemetry/metrics/declarations/gateway-metrics";
import type { Expected } from "@tributary/kit/telemetry/metrics/declarations/metric-declaration";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";

const cacheNames = ["documents", "plans", "introspection", "persisted-queries", "entities"] as const satisfies Expected<
  typeof gatewayMetrics.tributary_gateway_cache_evictions_total,
  "cache"
>[];

export type CacheName = (typeof cacheNames)[number];
export type CacheSizes = Readonly<Record<CacheName, MapSize>>;

export interface GaugeSources {
  cacheSizes(): CacheSizes;
  countQueuedJobs(): number;
}

/** The sizes are read at each scrape. */
export function exposeGauges(
  metrics: Metrics<typeof gatewayMetrics>,
  { cacheSizes, countQueuedJobs }: GaugeSources,
): void {
  metrics.gauge("tributary_gateway_planner_queue_length").onScrape((gauge) => gauge.set({}, countQueuedJobs()));
  metrics.gauge("tributary_gateway_cache_entries").onScrape((gauge) => {
    const sizes = cacheSizes();
    for (const cache of cacheNames) gauge.set({ cache }, sizes[cache].entries);
  });
  metrics.gauge("tributary_gateway_cache_bytes").onScrape((gauge) => {
    const sizes = cacheSizes();
    // Estimated bytes. Of a persisted query, each character counts as one.
    for (const cache of cacheNames) gauge.set({ cache }, sizes[cache].weight);
  });
}
