import type { Expected } from "@tributary/kit/telemetry/metrics/declarations/metric-declaration";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/declarations/rest-proxy-metrics";
import type { CounterSeries, Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { CacheObservation } from "../cache/cache-request.ts";

/** The stored responses. */
interface CacheSize {
  readonly bytes: number;
  readonly entries: number;
}

type Result = Expected<typeof restMetrics.tributary_rest_cache_requests_total, "result">;

/** The metrics of the response cache, which `createResourceCache` reports to. */
export interface CacheObserver {
  count(observation: CacheObservation): void;
  /** Sets the gauges of the cache: `size` is called at each scrape. */
  watch(size: () => CacheSize, bytesMax: number): void;
}

/** @returns undefined if metrics are off. */
export function createCacheObserver(metrics: Metrics<typeof restMetrics>): CacheObserver | undefined {
  if (!metrics.isOn) return undefined;
  const results = new Map<Result, CounterSeries>();
  const requests = metrics.counter("tributary_rest_cache_requests_total");
  const invalidated = metrics.counter("tributary_rest_cache_invalidated_total");
  const evicted = metrics.counter("tributary_rest_cache_evicted_bytes_total");
  const failures = metrics.counter("tributary_rest_cache_refresh_failures_total");

  function countResult(result: Result): void {
    const known = results.get(result) ?? requests.of({ result });
    results.set(result, known);
    known.add();
  }

  return {
    count(observation) {
      const { kind } = observation;
      if (kind === "stale") countResult(`stale-${observation.because}`);
      else if (kind === "invalidated") invalidated.add({}, observation.entries);
      else if (kind === "evicted") evicted.add({}, observation.bytes);
      else if (kind === "refresh-failed") failures.add({});
      // A skipped refresh is not a request.
      else if (kind !== "refresh-skipped") countResult(kind);
    },
    watch(size, bytesMax) {
      metrics.gauge("tributary_rest_cache_bytes_max").set({}, bytesMax);
      metrics.gauge("tributary_rest_cache_bytes").onScrape((gauge) => gauge.set({}, size().bytes));
      metrics.gauge("tributary_rest_cache_entries").onScrape((gauge) => gauge.set({}, size().entries));
    },
  };
}
