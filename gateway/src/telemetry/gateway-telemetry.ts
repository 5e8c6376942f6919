import type { RunningServer } from "@tributary/kit/process/lifecycle";
import type { Log } from "@tributary/kit/process/log";
import { showMetrics } from "@tributary/kit/telemetry/admin-server";
import { createFailureLog, type FailureLog } from "@tributary/kit/telemetry/failure-log";
import { listKnownValues } from "@tributary/kit/telemetry/metrics/known-values";
import { metricsOf } from "@tributary/kit/telemetry/metrics/metric-declarations";
import { createTelemetry, type Telemetry } from "@tributary/kit/telemetry/telemetry";
import type { Config } from "../config.ts";
import { codes } from "../errors/codes.ts";
import { createFetchObserver, type FetchObserver } from "./fetch-observer.ts";
import { type Kept, showKept } from "./cache-metrics.ts";
import { createObservationCounts } from "./observation-counts.ts";
import { createObserver, type Observe } from "./observation-log.ts";
import type { RequestObserver } from "@tributary/kit/telemetry/request-observer";
import { createGatewayRequestObserver } from "./request-observer.ts";
import type { RequestRecord } from "./request-record.ts";

/** Who watches requests and fetches; undefined: nobody, and nothing is noted for them. */
export interface Watchers {
  readonly requests: RequestObserver<RequestRecord> | undefined;
  readonly fetches: FetchObserver | undefined;
}

/** What the gateway's process shows of itself, put together from its configuration. */
export interface GatewayTelemetry extends Watchers {
  readonly log: Log;
  readonly observe: Observe;
  /** Shows how full things are. */
  watch(kept: Kept): void;
  /** The listener for /metrics, if there is to be one. */
  startAdmin(isReady: () => boolean): Promise<RunningServer | undefined>;
  /** Sends what is recorded. */
  stop(): Promise<void>;
}

/** @param supergraph the hash of the one that is served. */
export async function createGatewayTelemetry(
  config: Config,
  supergraph: () => string | undefined,
): Promise<GatewayTelemetry> {
  const telemetry = await createTelemetry({ name: "gateway", declarations: metricsOf.gateway, config, supergraph });
  const { log, metrics, trace } = telemetry;
  const failures = createFailureLog(log);
  announceLabels(telemetry, config);
  return {
    log,
    observe: combine(telemetry, failures),
    requests: createGatewayRequestObserver({ ...config, ...telemetry }),
    fetches: createFetchObserver(metrics, trace),
    watch: (kept) => showKept(metrics, kept),
    startAdmin: (isReady) => showMetrics(config, telemetry, isReady),
    stop() {
      failures.close();
      return trace.stop();
    },
  };
}

/** Label values that are known before the first request; subgraphs follow with each supergraph. */
function announceLabels({ metrics }: Telemetry<typeof metricsOf.gateway>, config: Config): void {
  for (const code of Object.keys(codes)) metrics.announce({ code });
  for (const client of listKnownValues(config.knownClients)) metrics.announce({ client });
  for (const operation of listKnownValues(config.knownOperations)) metrics.announce({ operation });
}

function combine({ log, metrics }: Telemetry<typeof metricsOf.gateway>, failures: FailureLog): Observe {
  const write = createObserver(log, failures);
  if (!metrics.isOn) return write;
  const count = createObservationCounts(metrics);
  return (observation) => {
    count(observation);
    write(observation);
  };
}
