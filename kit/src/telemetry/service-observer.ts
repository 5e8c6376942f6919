import type { IncomingMessage, ServerResponse } from "node:http";
import { statusOf } from "../errors/app-error.ts";
import type { Log } from "../process/log.ts";
import { readRequestId } from "../http/request-id.ts";
import { readCallerContext } from "../http/trace-context.ts";
import { createKnownValues } from "./metrics/known-values.ts";
import type { serviceMetrics } from "./metrics/metric-declarations.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { recordFields, type ServiceRequestRecord, type RequestRecords } from "./request-record.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";
import { createRequestObserver, type FinishedRequest, isAccessLogged, roundMilliseconds } from "./request-observer.ts";
import type { Span, Trace } from "./tracing/trace.ts";

/** What the doors of a service tell of the requests that they answer. */
export interface ServiceObserver {
  /** Answers a request inside its record; counts, traces and logs it at its end. */
  observe(request: IncomingMessage, response: ServerResponse, answer: () => void): void;
  /** Says what the request under way asks for, by a name of ours: a declared path, or a field of the schema. */
  nameRoute(door: ServiceRequestRecord["door"], route: string): void;
  /** A route that requests may name: see `Metrics.announce`. */
  announceRoute(door: ServiceRequestRecord["door"], route: string, methods: readonly string[]): void;
  /** An entry of `errors[]` in the answer to the request under way. */
  countGraphqlError(code: string): void;
  /** The current request fails with this code. */
  failRequest(code: string): void;
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
/** Codes that are our fault, and not the caller's. */
const failures = new Set(["INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE"]);
/** Of a request whose caller left before its answer; nginx' number for it. */
export function createServiceObserver(o: ServiceObserverOptions): ServiceObserver {
  const { metrics, records } = o;
  const errors = metrics.counter("tributary_service_graphql_errors_total");
  const requestsInFlight = metrics.gauge("tributary_service_requests_in_flight");
  const observer = createRequestObserver({
    trace: o.trace,
    methodOf,
    createRecord: createServiceRecord,
    onFinished: createReport(o),
    onScrape: (readInFlight) => requestsInFlight.onScrape((gauge) => gauge.set({}, readInFlight())),
  });

  return {
    observe(request, response, answer) {
      const requestId = readRequestId(request.headers["x-request-id"]);
      // Later readers of the header, such as the problem document, get the same id.
      request.headers["x-request-id"] = requestId;
      const record = observer.begin(request, response, requestId);
      records.run(record, () => o.trace.run(record.span, answer));
    },
    nameRoute(door, route) {
      const record = records.current();
      if (record) Object.assign(record, { door, route });
    },
    announceRoute(door, route, methods) {
      for (const method of methods) metrics.announce({ door, route, method });
    },
    countGraphqlError(code) {
      errors.add({ code: codeOf(code) });
      const record = records.current();
      if (record && failures.has(code)) fail(record, code);
    },
    failRequest(code) {
      const record = records.current();
      if (record) fail(record, code);
    },
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
  return { requestId, traceId, span, door: "other", route: "other", failureCode: undefined };
}

function createReport({ log, metrics, accessLog }: ServiceObserverOptions) {
  const requests = metrics.counter("tributary_service_requests_total");
  const durations = metrics.histogram("tributary_service_request_duration_seconds");

  return ({ record, request, status, milliseconds }: FinishedRequest<ServiceRequestRecord>): void => {
    const { door, route, span, failureCode } = record;
    const method = methodOf(request.method);
    const hasFailed = failureCode !== undefined || status >= 500;
    requests.add({ door, route, method, status });
    durations.observe({ door, route }, milliseconds / 1_000);
    if (span) endSpan(record, method, status);
    if (!isAccessLogged(accessLog, { span, hasFailed })) return;
    const about = { door, route, method, status, ...(failureCode === undefined ? {} : { code: failureCode }) };
    log.info({ ...recordFields(record), ...about, milliseconds: roundMilliseconds(milliseconds) }, "answered");
  };
}

function endSpan({ door, route, span }: ServiceRequestRecord, method: string, status: number): void {
  if (!span) return;
  const path = door === "graphql" ? "/graphql" : route;
  span.rename(door === "graphql" ? route : `${method} ${route}`);
  span.set("http.route", path);
  if (door !== "other") span.set("url.path", path);
  span.set("http.response.status_code", status);
  if (status >= 500) span.fail(String(status));
  span.end();
}
