// The metrics of admission.
import type { admissionMetrics } from "../telemetry/metrics/metric-declarations.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";
import type { AdmissionObserver } from "./admission.ts";

export interface AdmissionTelemetryOptions {
  readonly metrics: Metrics<typeof admissionMetrics>;
  readonly endpoint: "graphql" | "rest" | "service";
}

/** The `observer` of `createAdmission`. */
export function createAdmissionObserver({ metrics, endpoint }: AdmissionTelemetryOptions): AdmissionObserver {
  const rejections = metrics.counter("tributary_admission_rejections_total");
  const inFlight = metrics.gauge("tributary_admission_in_flight");
  const limit = metrics.gauge("tributary_admission_limit");
  const waiting = metrics.gauge("tributary_admission_waiting");
  metrics.announce({ endpoint });
  return {
    onRejected: (priority) => rejections.add({ endpoint, class: priority }),
    expose(readState) {
      inFlight.onScrape((gauge) => gauge.set({ endpoint }, readState().inFlight));
      limit.onScrape((gauge) => gauge.set({ endpoint }, Math.floor(readState().limit)));
      waiting.onScrape((gauge) => gauge.set({ endpoint }, readState().waiting));
    },
  };
}
