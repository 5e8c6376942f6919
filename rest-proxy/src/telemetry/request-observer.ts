import type { Log } from "@tributary/kit/process/log";
import { type AccessLog, createAccessLog, type FailedRequestKind } from "@tributary/kit/telemetry/access-log";
import { createKnownValues, type KnownValues } from "@tributary/kit/telemetry/metrics/known-values";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/declarations/rest-proxy-metrics";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { TelemetryConfig } from "@tributary/kit/process/telemetry-config";
import type { Trace } from "@tributary/kit/telemetry/tracing/trace";
import { recordFields } from "@tributary/kit/telemetry/request-record";
import {
  createRequestObserver,
  type RequestObserver,
  roundMilliseconds,
} from "@tributary/kit/telemetry/request-observer";
import { createRequestCounts } from "./request-counts.ts";
import {
  createRequestRecord,
  type FinishedProxyRequest,
  type RequestRecord,
  statusOfFinished,
} from "./request-record.ts";

export interface ProxyObserverOptions {
  readonly log: Log;
  readonly metrics: Metrics<typeof restMetrics>;
  readonly trace: Trace;
  readonly accessLog: TelemetryConfig["accessLog"];
  readonly knownClients: readonly string[];
  /** Requests for older versions are counted by client. */
  readonly newestVersion: number;
}

/** The methods of requests in metrics and spans; any other one is `other`. */
export const methods = ["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"] as const;
const methodOf = createKnownValues(methods);

/** @returns undefined if all telemetry of requests is off. */
export function createProxyRequestObserver(options: ProxyObserverOptions): RequestObserver<RequestRecord> | undefined {
  const { log, metrics, trace, knownClients, newestVersion } = options;
  if (!metrics.isOn && !trace.isOn && options.accessLog === "off") return undefined;
  const countRequest = createRequestCounts({ metrics, knownClients, newestVersion });
  const clientOf = createKnownValues(knownClients);
  const accessLog = createAccessLog<FailedRequestKind>(log, options.accessLog, "route");
  return createRequestObserver({
    trace,
    methodOf,
    createRecord: (span, { headers }) => createRequestRecord(span, headers),
    onFinished(closed) {
      const finished = { ...closed, status: statusOfFinished(closed) };
      const { record, request, status } = finished;
      const method = methodOf(request.method);
      countRequest(finished, method);
      if (record.span) endSpan(record, method, status);
      logRequest(accessLog, finished, method, clientOf);
    },
    gauge: metrics.gauge("tributary_rest_requests_in_flight"),
    onClose: () => accessLog.close(),
  });
}

function endSpan({ span, route, version, code }: RequestRecord, method: string, status: number): void {
  // Only for the type: `onFinished` calls this only with a span.
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

function logRequest(
  accessLog: AccessLog<FailedRequestKind>,
  finished: FinishedProxyRequest,
  method: string,
  clientOf: KnownValues,
): void {
  const { record, status, requestId, milliseconds } = finished;
  const { version, span, failedReplica, traceId } = record;
  const code = record.code ?? record.truncatedBy;
  const hasFailed = status >= 500 && !record.isRejectedByAdmission;
  if (!accessLog.isWanted(span, hasFailed)) return;
  const route = record.route?.path ?? "other";
  const failure = hasFailed ? { service: record.route?.service, route, status, code } : undefined;
  const ids = recordFields({ requestId, traceId, span });
  const outcome = { route, version, method, status, code };
  const failed = failedReplica === undefined ? {} : { replica: failedReplica };
  // A name that is not verified is only claimed by the client.
  const client = { client: clientOf(record.client?.name), clientVerified: record.client?.isVerified ?? false };
  const fields = { ...ids, ...outcome, ...client, ...failed, milliseconds: roundMilliseconds(milliseconds) };
  accessLog.write(span, failure, fields);
}
