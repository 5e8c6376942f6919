// Log, metrics and traces of the process. The other modules report observations; only this folder logs and counts them.
import { createFeedStateObserver } from "@tributary/kit/feed/feed-telemetry";
import { type Log, setLogLevel } from "@tributary/kit/process/log";
import { type AdminServer, startMetricsListener } from "@tributary/kit/telemetry/admin-server";
import type { AdmissionObserver } from "@tributary/kit/admission/admission";
import { createAdmissionObserver } from "@tributary/kit/admission/admission-telemetry";
import { createRateLimitObserver } from "@tributary/kit/rate-limit/rate-limit-telemetry";
import type { RateLimitObserver } from "@tributary/kit/rate-limit/caller-limits";
import { createFailureLog, type FailureLog } from "@tributary/kit/telemetry/failure-log";
import { listKnownValues } from "@tributary/kit/telemetry/metrics/known-values";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import type { RequestObserver } from "@tributary/kit/telemetry/request-observer";
import { createTelemetry, type Telemetry } from "@tributary/kit/telemetry/telemetry";
import type { Config } from "../config.ts";
import { type ClientCode, codes, listRejectionStatuses } from "../errors/codes.ts";
import type { GatewayObserver } from "../observations.ts";
import { exposeGauges, type GaugeSources } from "./cache-metrics.ts";
import { createFetchObserver, type FetchObserver } from "./fetch-observer.ts";
import { createObservationCounts } from "./observation-counts.ts";
import { createObservationLog } from "./observation-log.ts";
import { createGatewayRequestObserver } from "./request-observer.ts";
import type { GraphqlRequestRecord } from "./request-record.ts";

/** `requestObserver` and `fetchObserver` are undefined if all outputs that they write to (metrics, traces, access log) are off. */
export interface TelemetryObservers {
  readonly requestObserver: RequestObserver<GraphqlRequestRecord> | undefined;
  readonly fetchObserver: FetchObserver | undefined;
  readonly observeRateLimits?: RateLimitObserver;
  readonly admissionObserver?: AdmissionObserver;
  setLogLevel?(level: string): void;
}

export interface GatewayTelemetry extends TelemetryObservers {
  readonly log: Log;
  readonly observe: GatewayObserver;
  exposeGauges(sources: GaugeSources): void;
  /** Starts the listener for /metrics and probes; undefined without ADMIN_PORT. */
  startAdmin(): Promise<AdminServer | undefined>;
  /** Logs the counts of repeated failures, and sends the recorded spans. Called when the process stops. */
  stop(): Promise<void>;
}

/** Called once, at start. @param supergraph the id of the supergraph in use; undefined before one is loaded. */
export async function createGatewayTelemetry(
  config: Config,
  supergraph: () => string | undefined,
): Promise<GatewayTelemetry> {
  const telemetry = await createTelemetry({ name: "gateway", declarations: metricsOf.gateway, config, supergraph });
  const { log, metrics, trace } = telemetry;
  const { accessLog, knownClients, knownOperations } = config;
  const failures = createFailureLog(log);
  const requestObserver = createGatewayRequestObserver({
    log,
    metrics,
    trace,
    accessLog,
    knownClients,
    knownOperations,
  });
  announceLabels(telemetry, config);
  return {
    log,
    observe: createObserver(telemetry, failures, Object.keys(config.subgraphs.entityCache?.feedUrls ?? {})),
    setLogLevel: (level) => setLogLevel(log, level),
    requestObserver,
    fetchObserver: createFetchObserver(metrics, trace),
    admissionObserver: createAdmissionObserver({ metrics, endpoint: "graphql" }),
    observeRateLimits: createRateLimitObserver({ metrics, log, endpoint: "graphql" }),
    exposeGauges: (sources) => exposeGauges(metrics, sources),
    startAdmin: () => startMetricsListener(config, telemetry),
    stop() {
      failures.close();
      requestObserver?.close();
      return trace.stop();
    },
  };
}

/**
 * Exposes the series of known label values with 0, before the first request. Subgraphs are announced with each supergraph; further names of operations
 * are learned from requests (request-observer.ts).
 */
function announceLabels({ metrics }: Telemetry<typeof metricsOf.gateway>, config: Config): void {
  for (const code of Object.keys(codes) as ClientCode[]) {
    metrics.announce({ code });
    for (const status of listRejectionStatuses(code)) metrics.announce({ code, status });
  }
  for (const client of listKnownValues(config.knownClients)) metrics.announce({ client });
  for (const operation of listKnownValues(config.knownOperations)) metrics.announce({ operation });
}

/** The observer that all modules get: it counts and logs each observation. @param followed the services whose change feed the gateway follows. */
function createObserver(
  { log, metrics }: Telemetry<typeof metricsOf.gateway>,
  failures: FailureLog,
  followed: readonly string[],
): GatewayObserver {
  const logObservation = createObservationLog(log, failures);
  const observeFeedState = createFeedStateObserver({ metrics, log, services: followed });
  const countObservation = metrics.isOn ? createObservationCounts(metrics) : undefined;
  return (observation) => {
    if (observation.kind === "feed-state") return observeFeedState(observation);
    countObservation?.(observation);
    logObservation(observation);
  };
}
