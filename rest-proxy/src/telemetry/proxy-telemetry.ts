import { createFeedStateObserver } from "@tributary/kit/feed/feed-telemetry";
import type { Log } from "@tributary/kit/process/log";
import { type AdminServer, startMetricsListener } from "@tributary/kit/telemetry/admin-server";
import { createFailureLog, type FailureLog } from "@tributary/kit/telemetry/failure-log";
import { listKnownValues } from "@tributary/kit/telemetry/metrics/known-values";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import { createTelemetry, type Telemetry } from "@tributary/kit/telemetry/telemetry";
import type { AdmissionObserver } from "@tributary/kit/admission/admission";
import { createAdmissionObserver } from "@tributary/kit/admission/admission-telemetry";
import { createRateLimitObserver } from "@tributary/kit/rate-limit/rate-limit-telemetry";
import type { RateLimitObserver } from "@tributary/kit/rate-limit/caller-limits";
import type { TelemetryConfig } from "@tributary/kit/process/telemetry-config";
import type { ProxyConfig } from "../config.ts";
import { createObserver, type Observe } from "./observations.ts";
import { type CacheObserver, createCacheObserver } from "./cache-counts.ts";
import { createObservationCounts } from "./observation-counts.ts";
import type { RequestObserver } from "@tributary/kit/telemetry/request-observer";
import { createProxyRequestObserver, methods } from "./request-observer.ts";
import type { RequestRecord } from "./request-record.ts";
import { createServiceObservers, type ServiceClientObserver } from "./service-observer.ts";

/** Each is undefined if its telemetry is off. */
export interface ProxyObservers {
  readonly requests?: RequestObserver<RequestRecord> | undefined;
  readonly services?: ((service: string) => ServiceClientObserver) | undefined;
  readonly cache?: CacheObserver | undefined;
  readonly rateLimits?: RateLimitObserver | undefined;
  readonly admission?: AdmissionObserver | undefined;
}

export interface ProxyTelemetry {
  readonly log: Log;
  readonly observe: Observe;
  readonly observers: ProxyObservers;
  startAdmin(): Promise<AdminServer | undefined>;
  /** Logs the counts of repeated failures, and exports the recorded spans. */
  stop(): Promise<void>;
}

export interface DeclaredRoute {
  readonly service: string;
  readonly path: string;
  readonly method: string;
  readonly versions: readonly number[];
}

/** @param routes of the route table, for label values. */
export async function createProxyTelemetry(
  config: TelemetryConfig & Pick<ProxyConfig, "logLevel" | "knownClients" | "feedUrls" | "retirements">,
  routes: readonly DeclaredRoute[],
): Promise<ProxyTelemetry> {
  const telemetry = await createTelemetry({ name: "rest-proxy", declarations: metricsOf.rest, config });
  const { log, metrics, trace } = telemetry;
  const failures = createFailureLog(log);
  // Never -Infinity: the route table has at least one route, and each route a version (route/routes.ts).
  const newestVersion = Math.max(...routes.flatMap(({ versions }) => versions));
  const { accessLog, knownClients } = config;
  const requests = createProxyRequestObserver({ log, metrics, trace, accessLog, knownClients, newestVersion });
  announceRoutes(metrics, routes);
  announceClients(metrics, routes, { knownClients, newestVersion });
  exposeRetirements(metrics, config.retirements);
  return {
    log,
    observe: createObserve(telemetry, failures, Object.keys(config.feedUrls)),
    observers: {
      requests,
      services: createServiceObservers(metrics),
      cache: createCacheObserver(metrics),
      admission: createAdmissionObserver({ metrics, endpoint: "rest" }),
      rateLimits: createRateLimitObserver({ metrics, log, endpoint: "rest" }),
    },
    startAdmin: () => startMetricsListener(config, telemetry),
    stop() {
      failures.close();
      requests?.close();
      return trace.stop();
    },
  };
}

/** Announces the label values of all routes, and of requests without a route: their series are exported as 0 before the first event. */
function announceRoutes(metrics: Metrics<typeof metricsOf.rest>, routes: readonly DeclaredRoute[]): void {
  for (const { service, path: route, versions, method } of routes) {
    metrics.announce({ service });
    for (const version of versions) {
      metrics.announce({ route, version, method });
      if (method === "GET") metrics.announce({ route, version, method: "HEAD" });
    }
  }
  const allVersions = new Set(routes.flatMap(({ versions }) => versions));
  for (const version of ["none", ...allVersions]) {
    for (const method of methods) metrics.announce({ route: "other", version, method });
  }
}

interface ClientOptions {
  readonly knownClients: readonly string[];
  readonly newestVersion: number;
}

/** Announces the label values of each client: the newest version, and each route in each older version (`request-counts.ts`). */
function announceClients(
  metrics: Metrics<typeof metricsOf.rest>,
  routes: readonly DeclaredRoute[],
  { knownClients, newestVersion }: ClientOptions,
): void {
  for (const client of listKnownValues(knownClients)) {
    metrics.announce({ client, version: newestVersion });
    for (const { method, path: route, versions } of routes) {
      const oldVersions = versions.filter((version) => version < newestVersion);
      for (const version of oldVersions) metrics.announce({ client, verified: "false", version, method, route });
    }
  }
}

function exposeRetirements(metrics: Metrics<typeof metricsOf.rest>, retirements: ProxyConfig["retirements"]): void {
  const gauge = metrics.gauge("tributary_rest_version_retirement_timestamp_seconds");
  for (const { version, deprecatedAtMs, sunsetAtMs } of retirements) {
    if (deprecatedAtMs !== undefined) gauge.set({ version, step: "deprecation" }, deprecatedAtMs / 1_000);
    if (sunsetAtMs !== undefined) gauge.set({ version, step: "sunset" }, sunsetAtMs / 1_000);
  }
}

/** Combines log and metrics into the function that the stages report observations to. @param followed the services that have a feed. */
function createObserve(
  { log, metrics }: Telemetry<typeof metricsOf.rest>,
  failures: FailureLog,
  followed: readonly string[],
): Observe {
  const logObservation = createObserver(log, failures);
  const observeFeedState = createFeedStateObserver({ metrics, log, services: followed });
  const countObservation = metrics.isOn ? createObservationCounts(metrics) : undefined;
  return (observation) => {
    // `observeFeedState` writes both its log lines and its metrics.
    if (observation.kind === "feed-state") return observeFeedState(observation);
    countObservation?.(observation);
    logObservation(observation);
  };
}
