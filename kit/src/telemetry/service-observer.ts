import type { IncomingMessage, ServerResponse } from "node:http";
import { statusOf } from "../errors/app-error.ts";
import type { Log } from "../process/log.ts";
import { readRequestId } from "../http/request-id.ts";
import { readCallerContext } from "../http/trace-context.ts";
import { type AccessLog, createAccessLog, type FailedRequestKind } from "./access-log.ts";
import { createKnownValues } from "./metrics/known-values.ts";
import type { serviceMetrics } from "./metrics/declarations/service-metrics.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { recordFields, type ServiceRequestRecord, type RequestRecords } from "./request-record.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";
import { createRequestObserver, type FinishedRequest, roundMilliseconds } from "./request-observer.ts";
import type { Span, Trace } from "./tracing/trace.ts";

export interface ServiceObserver {
  /** Runs `handle` in the context of the request's record. */
  observe(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /** A declared path, or a root field of the schema. */
  nameRoute(endpoint: ServiceRequestRecord["endpoint"], route: string): void;
  announceRoute(endpoint: ServiceRequestRecord["endpoint"], route: string, methods: readonly string[]): void;
  /** Codes of failures of the service also mark the request as failed. */
  countGraphqlError(code: string): void;
  /** By a fault of the service. The access log has the first code, the span the last. */
  failRequest(code: string): void;
  close(): void;
}

export interface ServiceObserverOptions {
  readonly log: Log;
  readonly metrics: Metrics<typeof serviceMetrics>;
  readonly trace: Trace;
  readonly records: RequestRecords;
  readonly accessLog: TelemetryConfig["accessLog"];
}

const methodOf = createKnownValues(["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"]);
const codeOf = createKnownValues([...Object.keys(statusOf), "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"]);
const failureCodes = new Set(["INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE"]);

export function createServiceObserver(options: ServiceObserverOptions): ServiceObserver {
  const { metrics, trace, records } = options;
  const graphqlErrors = metrics.counter("tributary_service_graphql_errors_total");
  const accessLog = createAccessLog<FailedRequestKind>(options.log, options.accessLog, "route");
  const requestObserver = createRequestObserver({
    trace,
    methodOf,
    createRecord: createServiceRecord,
    onFinished: createRequestReporter(metrics, accessLog),
    gauge: metrics.gauge("tributary_service_requests_in_flight"),
    onClose: () => accessLog.close(),
  });

  return {
    observe(request, response, handle) {
      const requestId = readRequestId(request.headers["x-request-id"]);
      // Later readers of the header, such as the problem document, get the same id.
      request.headers["x-request-id"] = requestId;
      const record = requestObserver.begin(request, response, requestId);
      records.run(record, () => trace.run(record.span, handle));
    },
    nameRoute(endpoint, route) {
      const record = records.current();
      if (!record) return;
      record.endpoint = endpoint;
      record.route = route;
    },
    announceRoute(endpoint, route, methods) {
      for (const method of methods) metrics.announce({ endpoint, route, method });
    },
    countGraphqlError(code) {
      graphqlErrors.add({ code: codeOf(code) });
      const record = records.current();
      if (record && failureCodes.has(code)) fail(record, code);
    },
    failRequest(code) {
      const record = records.current();
      if (record) fail(record, code);
    },
    close: () => requestObserver.close(),
  };
}

function fail(record: ServiceRequestRecord, code: string): void {
  record.failureCode ??= code;
  record.span?.fail(code);
}

function createServiceRecord(
  span: Span | undefined,
  { headers }: IncomingMessage,
  requestId: string,
): ServiceRequestRecord {
  const traceId = span?.traceId ?? readCallerContext(headers["traceparent"])?.traceId;
  return { requestId, traceId, span, endpoint: "other", route: "other", failureCode: undefined };
}

function createRequestReporter(metrics: ServiceObserverOptions["metrics"], accessLog: AccessLog<FailedRequestKind>) {
  const requests = metrics.counter("tributary_service_requests_total");
  const durations = metrics.histogram("tributary_service_request_duration_seconds");

  return ({ record, request, status, milliseconds }: FinishedRequest<ServiceRequestRecord>): void => {
    const { endpoint, route, span, failureCode } = record;
    const method = methodOf(request.method);
    const hasFailed = failureCode !== undefined || status >= 500;
    requests.add({ endpoint, route, method, status });
    durations.observe({ endpoint, route }, milliseconds / 1_000);
    if (span) endSpan(span, record, method, status);
    if (!accessLog.isWanted(span, hasFailed)) return;
    const failure = hasFailed ? { route, status, code: failureCode } : undefined;
    const outcome = { endpoint, route, method, status, milliseconds: roundMilliseconds(milliseconds) };
    accessLog.write(span, failure, { ...recordFields(record), ...outcome });
  };
}

function endSpan(span: Span, { endpoint, route }: ServiceRequestRecord, method: string, status: number): void {
  const isGraphql = endpoint === "graphql";
  const path = isGraphql ? "/graphql" : route;
  span.rename(isGraphql ? route : `${method} ${route}`);
  span.set("http.route", path);
  // The route template: a real path contains ids.
  if (path !== "other") span.set("url.path", path);
  span.set("http.response.status_code", status);
  if (status >= 500) span.fail(String(status));
  span.end();
}
