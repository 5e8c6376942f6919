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
  const durationsOf = memoizeDurations(metrics);
  const clientOf = createKnownValues(knownClients);

  return ({ record, status, milliseconds }: FinishedProxyRequest, method: string): void => {
    const { code } = record;
    const route = record.route?.path ?? "other";
    const version = record.version ?? "none";
    requests.add({ route, version, method, status });
    durationsOf(route, version).observe(milliseconds / 1_000);
    if (code !== undefined) rejected.add({ code });
    if (record.version === undefined) return;
    const client = clientOf(record.client?.name);
    clients.add({ client, version });
    if (record.version >= newestVersion) return;
    const verified = String(record.client?.isVerified ?? false);
    oldVersions.add({ client, verified, version, method: record.route?.method ?? "other", route });
  };
}

/** A number, or `none` for a request without a version. */
type VersionLabel = string | number;

/** The series of durations, memoized by route, then by version. */
function memoizeDurations(
  metrics: Metrics<typeof restMetrics>,
): (route: string, version: VersionLabel) => HistogramSeries {
  const durations = metrics.histogram("tributary_rest_request_duration_seconds");
  const seriesByRoute = new Map<string, Map<VersionLabel, HistogramSeries>>();
  return (route, version) => {
    const seriesByVersion = seriesByRoute.get(route) ?? new Map<VersionLabel, HistogramSeries>();
    const memoizedSeries = seriesByVersion.get(version);
    if (memoizedSeries) return memoizedSeries;
    const series = durations.of({ route, version });
    seriesByVersion.set(version, series);
    seriesByRoute.set(route, seriesByVersion);
    return series;
  };
}
