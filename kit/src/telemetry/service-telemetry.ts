import type { RunningServer } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";
import type { PooledDatabase } from "../postgres/postgres.ts";
import { showMetrics } from "./admin-server.ts";
import { metricsOf } from "./metrics/metric-declarations.ts";
import { createRequestRecords, recordFields } from "./request-record.ts";
import { createServiceObserver, type ServiceObserver } from "./service-observer.ts";
import { type AroundStatement, createStatementObserver } from "./statement-observer.ts";
import { createTelemetry } from "./telemetry.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";
import type { Trace } from "./tracing/trace.ts";

/** What a service's process shows of itself, put together from its configuration. */
export interface ServiceTelemetry {
  readonly log: Log;
  readonly trace: Trace;
  readonly observer: ServiceObserver;
  readonly aroundStatement: AroundStatement | undefined;
  /** Shows the pool's connections. */
  watch(database: Pick<PooledDatabase, "readPool">, connectionsMax: number): void;
  /** The issuer was asked for its keys. */
  countKeysAsked(isGiven: boolean): void;
  /** The listener for /metrics, if there is to be one. */
  startAdmin(isReady: () => Promise<boolean>): Promise<RunningServer | undefined>;
}

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
  const keysAsked = metrics.counter("tributary_service_token_keys_asked_total");
  return {
    log,
    trace,
    observer: createServiceObserver({ log, metrics, trace, records, accessLog: config.accessLog }),
    aroundStatement: createStatementObserver(metrics, trace),
    watch(database, connectionsMax) {
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
    countKeysAsked: (isGiven) => keysAsked.add({ result: isGiven ? "given" : "failed" }),
    startAdmin: (isReady) => showMetrics(config, { log, metrics }, isReady),
  };
}
