import type { Log } from "../process/log.ts";
import type { feedMetrics } from "../telemetry/metrics/declarations/process-metrics.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";

/** The first `down` may mean: not up yet. */
export interface FeedStateObservation {
  readonly kind: "feed-state";
  readonly service: string;
  readonly state: "up" | "down";
  readonly cause: unknown;
}

export interface FeedTelemetryOptions {
  readonly metrics: Metrics<typeof feedMetrics>;
  readonly log: Log;
  /** Each is exported as 0 until its feed is up. */
  readonly services: readonly string[];
}

const floodLogDelayMs = 1_000;

/** One line for all readers of a second: after a restart of the service each of them connects at a time of its own. */
export function createFloodLog(log: Log): (readers: number) => void {
  let resets = 0;
  function write(): void {
    log.warn({ resets }, "too many changes at once for the change feed: its readers drop what they have cached");
    resets = 0;
  }
  return (readers) => {
    if (resets === 0) setTimeout(write, floodLogDelayMs).unref();
    resets += readers;
  };
}

/** A restart or a rolling deployment of the service takes less, an outage more. */
const reportDownAfterMs = 10_000;

/** A loss is logged once it has lasted ten seconds, and the end of a logged one. The gauge follows at once. */
export function createFeedStateObserver(o: FeedTelemetryOptions): (observation: FeedStateObservation) => void {
  const upGauge = o.metrics.gauge("tributary_feed_up");
  for (const service of o.services) upGauge.set({ service }, 0);
  const servicesSeenUp = new Set<string>();
  /** By service; undefined once the loss is logged. */
  const outages = new Map<string, NodeJS.Timeout | undefined>();

  function logDown(service: string, cause: unknown): void {
    outages.set(service, undefined);
    // A message without its stack, which is that of the HTTP client in every outage.
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (servicesSeenUp.has(service)) o.log.warn({ service, reason }, "change feed is down");
    // No warning, since processes start in any order. A feed that does not come up raises the alert FeedDown.
    else o.log.info({ service, reason }, "change feed is not up yet");
  }

  return ({ service, state, cause }) => {
    upGauge.set({ service }, state === "up" ? 1 : 0);
    if (state === "down") {
      if (!outages.has(service)) outages.set(service, setTimeout(logDown, reportDownAfterMs, service, cause).unref());
      return;
    }
    servicesSeenUp.add(service);
    const isLogged = outages.has(service) && outages.get(service) === undefined;
    clearTimeout(outages.get(service));
    outages.delete(service);
    o.log[isLogged ? "info" : "debug"]({ service }, "change feed is up");
  };
}
