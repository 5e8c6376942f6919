import type { AdmissionObserver } from "../admission/admission.ts";
import { createAdmissionObserver } from "../admission/admission-telemetry.ts";
import type { FeedListenerObserver } from "../feed/feed-listener.ts";
import type { Log } from "../process/log.ts";
import type { PooledDatabase } from "../postgres/postgres.ts";
import { type AdminServer, startMetricsListener } from "./admin-server.ts";
import { metricsOf } from "./metrics/declarations/metrics-of-processes.ts";
import type { serviceMetrics } from "./metrics/declarations/service-metrics.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { createRequestRecords, recordFields } from "./request-record.ts";
import { createServiceObserver, type ServiceObserver } from "./service-observer.ts";
import { type AroundStatement, createStatementObserver } from "./statement-observer.ts";
import { createTelemetry } from "./telemetry.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";
import type { Trace } from "./tracing/trace.ts";

export interface ServiceTelemetry {
  readonly log: Log;
  readonly trace: Trace;
  readonly observer: ServiceObserver;
  /** Undefined if metrics and tracing are off. */
  readonly aroundStatement: AroundStatement | undefined;
  observePool(database: Pick<PooledDatabase, "readPool">, connectionsMax: number): void;
  readonly admissionObserver: AdmissionObserver;
  readonly feedObserver: FeedListenerObserver;
  countFeedDatabaseLost(): void;
  showOutboxChanges(count: number): void;
  countKeysFetch(isOk: boolean): void;
  /** Undefined if it is not configured. Call it after all routes are announced. */
  startAdmin(): Promise<AdminServer | undefined>;
}

/** @throws Error if tracing is configured and OpenTelemetry's modules cannot be loaded. */
export async function createServiceTelemetry(
  name: string,
  config: TelemetryConfig & { readonly logLevel: string },
): Promise<ServiceTelemetry> {
  const records = createRequestRecords();
  const { log, metrics, trace } = await createTelemetry({
    name,
    declarations: metricsOf.service,
    config,
    logContext: () => recordFields(records.current()),
  });
  const keyFetches = metrics.counter("tributary_service_token_key_fetches_total");
  const feedDatabaseLost = metrics.counter("tributary_service_feed_database_lost_total");
  const outboxChanges = metrics.gauge("tributary_service_feed_outbox_changes");
  return {
    log,
    trace,
    observer: createServiceObserver({ log, metrics, trace, records, accessLog: config.accessLog }),
    aroundStatement: createStatementObserver(metrics, trace),
    observePool(database, connectionsMax) {
      metrics.gauge("tributary_service_database_connections_max").set({}, connectionsMax);
      metrics.gauge("tributary_service_database_waiting").onScrape((gauge) => {
        gauge.set({}, database.readPool().waiting);
      });
      metrics.gauge("tributary_service_database_connections").onScrape((gauge) => {
        const { total, idle } = database.readPool();
        gauge.set({ state: "idle" }, idle);
        gauge.set({ state: "used" }, total - idle);
      });
    },
    admissionObserver: createAdmissionObserver({ metrics, endpoint: "service" }),
    feedObserver: createFeedObserver(metrics),
    countFeedDatabaseLost: () => feedDatabaseLost.add({}),
    showOutboxChanges: (count) => outboxChanges.set({}, count),
    countKeysFetch: (isOk) => keyFetches.add({ result: isOk ? "ok" : "failed" }),
    startAdmin: () => startMetricsListener(config, { log, metrics }),
  };
}

function createFeedObserver(metrics: Metrics<typeof serviceMetrics>): FeedListenerObserver {
  const streams = metrics.gauge("tributary_service_feed_streams");
  const resets = metrics.counter("tributary_service_feed_resets_sent_total");
  return { onStreams: (count) => streams.set({}, count), onResetSent: () => resets.add({}) };
}
