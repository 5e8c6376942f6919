import type { Expected } from "@tributary/kit/telemetry/metrics/declarations/metric-declaration";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/declarations/rest-proxy-metrics";
import type { CounterSeries, Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { CacheObservation } from "../cache/cache-request.ts";

interface CacheSize {
  readonly bytes: number;
  readonly entries: number;
}

type Result = Expected<typeof restMetrics.tributary_rest_cache_requests_total, "result">;

export interface CacheObserver {
  count(observation: CacheObservation): void;
  /** Sets the gauges of the cache: `size` is called at each scrape. */
  watch(size: () => CacheSize, bytesMax: number): void;
}

/** @returns undefined if metrics are off. */
export function createCacheObserver(metrics: Metrics<typeof restMetrics>): CacheObserver | undefined {
  if (!metrics.isOn) return undefined;
  const seriesByResult = new Map<Result, CounterSeries>();
  const requests = metrics.counter("tributary_rest_cache_requests_total");
  const invalidated = metrics.counter("tributary_rest_cache_invalidated_total");
  const evicted = metrics.counter("tributary_rest_cache_evicted_bytes_total");
  const failures = metrics.counter("tributary_rest_cache_refresh_failures_total");

  function countResult(result: Result): void {
    const series = seriesByResult.get(result) ?? requests.of({ result });
    seriesByResult.set(result, series);
    series.add();
  }

  return {
    count(observation) {
      switch (observation.kind) {
        case "hit":
        case "miss":
        case "collapsed":
        case "revalidated":
        case "bypass":
          return countResult(observation.kind);
        case "stale":
          return countResult(`stale-${observation.because}`);
        case "invalidated":
          return invalidated.add({}, observation.entries);
        case "evicted":
          return evicted.add({}, observation.bytes);
        case "refresh-failed":
          return failures.add({});
        case "refresh-skipped":
          // Not counted: it is not a request.
          return undefined;
      }
    },
    watch(size, bytesMax) {
      metrics.gauge("tributary_rest_cache_bytes_max").set({}, bytesMax);
      metrics.gauge("tributary_rest_cache_bytes").onScrape((gauge) => gauge.set({}, size().bytes));
      metrics.gauge("tributary_rest_cache_entries").onScrape((gauge) => gauge.set({}, size().entries));
    },
  };
}
