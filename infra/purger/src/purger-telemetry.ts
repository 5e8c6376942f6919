import { createFeedStateObserver } from "@tributary/kit/feed/feed-telemetry";
import type { Log } from "@tributary/kit/process/log";
import type { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { Purger, PurgerObservation } from "./purger.ts";

type PurgerMetrics = Metrics<typeof metricsOf.purger>;

/** Logs the first failure of a cache and its next success, and counts everything. @param services whose feeds the purger follows. */
export function createPurgerObserver(
  log: Log,
  metrics: PurgerMetrics,
  services: readonly string[],
): (observation: PurgerObservation) => void {
  const requests = metrics.counter("tributary_purger_requests_total");
  const tags = metrics.counter("tributary_purger_tags_total");
  const lags = metrics.histogram("tributary_purger_lag_seconds");
  const overflows = metrics.counter("tributary_purger_overflows_total");
  const resets = metrics.counter("tributary_purger_resets_total");
  const observeFeedState = createFeedStateObserver({ metrics, log, services });
  const failingCaches = new Set<string>();

  return (observation) => {
    switch (observation.kind) {
      case "purged": {
        const { url: cache } = observation;
        requests.add({ cache, result: "ok" });
        tags.add({ cache }, observation.tags);
        for (const lagMs of observation.lagsMs) lags.observe({ cache }, lagMs / 1_000);
        const wasFailing = failingCaches.delete(cache);
        if (wasFailing) log.info({ cache }, "cache accepts purges again");
        return;
      }
      case "failed": {
        const { url: cache, cause } = observation;
        requests.add({ cache, result: "failed" });
        const wasFailing = failingCaches.has(cache);
        if (!wasFailing) log.warn({ cache, err: cause }, "purge failed; repeated until the cache accepts it");
        failingCaches.add(cache);
        return;
      }
      case "overflow": {
        const { url: cache } = observation;
        overflows.add({ cache });
        return log.warn({ cache }, "purge queue full; whole services are purged");
      }
      case "reset": {
        const { service } = observation;
        resets.add({ service });
        return log.info({ service }, "whole service is purged: changes of its feed may be missing");
      }
      case "feed-state":
        return observeFeedState(observation);
    }
  };
}

/** Declares the label values to the metrics, so that each counter is exported as 0 before its first event. Exports the sizes of the queues. */
export function announce(
  metrics: PurgerMetrics,
  { caches, services }: { readonly caches: readonly string[]; readonly services: readonly string[] },
  purger: Pick<Purger, "sizes">,
): void {
  for (const cache of caches) metrics.announce({ cache });
  for (const service of services) metrics.announce({ service });
  metrics.gauge("tributary_purger_queue_size").onScrape((gauge) => {
    for (const { url, size } of purger.sizes()) gauge.set({ cache: url }, size);
  });
}
