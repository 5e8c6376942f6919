// The gauges that are read at each scrape: of the caches, of the planner's queue, of the supergraph and of the registered documents.
import type { MapSize } from "@tributary/kit/collections/bounded-map";
import type { gatewayMetrics } from "@tributary/kit/telemetry/metrics/declarations/gateway-metrics";
import type { Expected } from "@tributary/kit/telemetry/metrics/declarations/metric-declaration";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";

/** The caches: validated documents, query plans, introspection responses, texts of automatic persisted queries, entities. */
const cacheNames = ["documents", "plans", "introspection", "persisted-queries", "entities"] as const satisfies Expected<
  typeof gatewayMetrics.tributary_gateway_cache_evictions_total,
  "cache"
>[];

const documentStates = ["planned", "invalid", "pending"] as const;

export type CacheName = (typeof cacheNames)[number];
export type CacheSizes = Readonly<Record<CacheName, MapSize>>;

export interface GaugeSources {
  cacheSizes(): CacheSizes;
  /** Operations and large introspections that wait for a planner thread. */
  countQueuedJobs(): number;
  supergraphStatus(): { readonly staleSeconds: number };
  /** Undefined if none are configured. */
  documentsStatus(): { readonly counts: Readonly<Record<(typeof documentStates)[number], number>> } | undefined;
}

export function exposeGauges(
  metrics: Metrics<typeof gatewayMetrics>,
  { cacheSizes, countQueuedJobs, supergraphStatus, documentsStatus }: GaugeSources,
): void {
  const stale = metrics.gauge("tributary_gateway_supergraph_stale_seconds");
  stale.onScrape((gauge) => gauge.set({}, supergraphStatus().staleSeconds));
  metrics.gauge("tributary_gateway_planner_queue_length").onScrape((gauge) => gauge.set({}, countQueuedJobs()));
  metrics.gauge("tributary_gateway_documents").onScrape((gauge) => {
    const counts = documentsStatus()?.counts;
    for (const state of documentStates) gauge.set({ state }, counts?.[state] ?? 0);
  });
  metrics.gauge("tributary_gateway_cache_entries").onScrape((gauge) => {
    const sizes = cacheSizes();
    for (const cache of cacheNames) gauge.set({ cache }, sizes[cache].entries);
  });
  metrics.gauge("tributary_gateway_cache_bytes").onScrape((gauge) => {
    const sizes = cacheSizes();
    // The weight of an entry is its estimated size in bytes. Of a persisted query, each character counts as one byte.
    for (const cache of cacheNames) gauge.set({ cache }, sizes[cache].weight);
  });
}
