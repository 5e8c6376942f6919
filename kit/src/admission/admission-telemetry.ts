import type { admissionMetrics } from "../telemetry/metrics/declarations/process-metrics.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";
import type { AdmissionObserver } from "./admission.ts";
import type { PriorityClass } from "./priority.ts";

export interface AdmissionTelemetryOptions {
  readonly metrics: Metrics<typeof admissionMetrics>;
  readonly endpoint: "graphql" | "rest" | "service";
}

export function createAdmissionObserver({ metrics, endpoint }: AdmissionTelemetryOptions): AdmissionObserver {
  const admissions = metrics.counter("tributary_admission_admitted_total");
  const seriesOf = (priority: PriorityClass) => admissions.of({ endpoint, class: priority });
  const admittedSeries = {
    critical: seriesOf("critical"),
    normal: seriesOf("normal"),
    background: seriesOf("background"),
  };
  const rejections = metrics.counter("tributary_admission_rejections_total");
  const inFlight = metrics.gauge("tributary_admission_in_flight");
  const limit = metrics.gauge("tributary_admission_limit");
  const waiting = metrics.gauge("tributary_admission_waiting");
  metrics.announce({ endpoint });
  return {
    onAdmitted: (priority) => admittedSeries[priority].add(),
    onRejected: (priority) => rejections.add({ endpoint, class: priority }),
    expose(readState) {
      inFlight.onScrape((gauge) => gauge.set({ endpoint }, readState().inFlight));
      limit.onScrape((gauge) => gauge.set({ endpoint }, Math.floor(readState().limit)));
      waiting.onScrape((gauge) => gauge.set({ endpoint }, readState().waiting));
    },
  };
}
