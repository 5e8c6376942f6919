import { createKnownValues } from "@tributary/kit/telemetry/metrics/known-values";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/declarations/rest-proxy-metrics";
import type { HistogramSeries, Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { FinishedProxyRequest } from "./request-record.ts";

export interface RequestCountsOptions {
  readonly metrics: Metrics<typeof restMetrics>;
  readonly knownClients: readonly string[];
  readonly newestVersion: number;
}

/** Counts finished requests. A cache hit takes 20 µs in total, so this has to take less than 1 µs. */
export function createRequestCounts({ metrics, knownClients, newestVersion }: RequestCountsOptions) {
  if (!metrics.isOn) return () => {};
  const requests = metrics.counter("tributary_rest_requests_total");
  const clients = metrics.counter("tributary_rest_client_requests_total");
  const oldVersions = metrics.counter("tributary_rest_old_version_requests_total");
  const rejected = metrics.counter("tributary_rest_rejected_total");
  const secondsOf = memoizeSeries(metrics);
  const clientOf = createKnownValues(knownClients);

  return ({ record, status, milliseconds }: FinishedProxyRequest, method: string): void => {
    const { code } = record;
    const route = record.route?.path ?? "other";
    const version = record.version ?? "none";
    requests.add({ route, version, method, status });
    secondsOf(route, version).observe(milliseconds / 1_000);
    if (code !== undefined) rejected.add({ code });
    if (record.version === undefined) return;
    const client = clientOf(record.client?.name);
    clients.add({ client, version });
    if (record.version < newestVersion) oldVersions.add({ client, version, route });
  };
}

/** Remembers the series by route, then by version. */
function memoizeSeries(
  metrics: RequestCountsOptions["metrics"],
): (route: string, version: string | number) => HistogramSeries {
  const seconds = metrics.histogram("tributary_rest_request_duration_seconds");
  const byRoute = new Map<string, Map<string | number, HistogramSeries>>();
  return (route, version) => {
    const ofRoute = byRoute.get(route) ?? new Map<string | number, HistogramSeries>();
    const known = ofRoute.get(version);
    if (known) return known;
    const series = seconds.of({ route, version });
    byRoute.set(route, ofRoute.set(version, series));
    return series;
  };
}
