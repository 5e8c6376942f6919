import type { IncomingMessage } from "node:http";
import type { Log } from "@tributary/kit/process/log";
import { createKnownValues } from "@tributary/kit/telemetry/metrics/known-values";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/metric-declarations";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { TelemetryConfig } from "@tributary/kit/process/telemetry-config";
import type { Span, Trace } from "@tributary/kit/telemetry/tracing/trace";
import { createRequestCounts } from "./request-counts.ts";
import type { RequestRecord, FinishedRequest } from "./request-record.ts";

/** Counts, traces and logs requests; there is none where nobody asks for any of it. */
export interface RequestObserver {
  /** Undefined when the request is not traced. */
  begin(request: IncomingMessage, requestId: string): Span | undefined;
  end(settled: FinishedRequest): void;
}

export interface RequestObserverOptions {
  readonly log: Log;
  readonly metrics: Metrics<typeof restMetrics>;
  readonly trace: Trace;
  readonly accessLog: TelemetryConfig["accessLog"];
  /** Names that are counted by themselves. */
  readonly knownClients: readonly string[];
  /** The version that nobody has to leave. */
  readonly newestVersion: number;
}

export const methods = ["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"] as const;
const methodOf = createKnownValues(methods);

export function createRequestObserver(o: RequestObserverOptions): RequestObserver | undefined {
  const { metrics, trace } = o;
  if (!metrics.isOn && !trace.isOn && o.accessLog === "off") return undefined;
  const count = createRequestCounts(o);
  let underWay = 0;
  metrics.gauge("tributary_rest_requests_in_flight").onScrape((gauge) => gauge.set({}, underWay));

  return {
    begin(request, requestId) {
      underWay++;
      return trace.isOn ? beginSpan(trace, request, requestId) : undefined;
    },
    end(settled) {
      underWay--;
      const { record, request, status } = settled;
      const method = methodOf(request.method);
      count(settled, method);
      if (record.span) endSpan(record, method, status);
      tell(o, settled, method);
    },
  };
}

function beginSpan(trace: Trace, { method, headers }: IncomingMessage, requestId: string): Span | undefined {
  const attributes = { "http.request.method": methodOf(method), "tributary.request_id": requestId };
  return trace.begin("request", headers["traceparent"], { kind: "server", attributes });
}

function endSpan({ span, route, version, code }: RequestRecord, method: string, status: number): void {
  if (!span) return;
  const path = route?.path ?? "other";
  span.rename(`${method} ${path}`);
  span.set("http.route", path);
  if (route) span.set("url.path", path);
  span.set("http.response.status_code", status);
  if (version !== undefined) span.set("tributary.version", version);
  if (status >= 500) span.fail(code ?? String(status));
  span.end();
}

function tell({ log, accessLog }: RequestObserverOptions, settled: FinishedRequest, method: string): void {
  const { record, status, requestId, milliseconds } = settled;
  const { route, version, span, code, failedReplica } = record;
  const isSampled = accessLog === "sampled" && (span !== undefined || status >= 500);
  if (accessLog !== "all" && !isSampled) return;
  const ids = { requestId, trace_id: record.traceId, ...(span ? { span_id: span.spanId } : {}) };
  const about = { route: route?.path ?? "other", version, method, status, code };
  const failed = failedReplica === undefined ? {} : { service: route?.service, replica: failedReplica };
  log.info({ ...ids, ...about, ...failed, milliseconds: Math.round(milliseconds * 10) / 10 }, "answered");
}
