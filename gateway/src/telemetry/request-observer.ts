import type { Log } from "@tributary/kit/process/log";
import { createKnownValues, createLearnedValues } from "@tributary/kit/telemetry/metrics/known-values";
import type { gatewayMetrics } from "@tributary/kit/telemetry/metrics/metric-declarations";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { TelemetryConfig } from "@tributary/kit/process/telemetry-config";
import type { Span, Trace } from "@tributary/kit/telemetry/tracing/trace";
import { recordFields } from "@tributary/kit/telemetry/request-record";
import {
  createRequestObserver,
  type FinishedRequest,
  isAccessLogged,
  readClientName,
  type RequestObserver,
  roundMilliseconds,
} from "@tributary/kit/telemetry/request-observer";
import { operationLabelsMax } from "../config.ts";
import { RequestRecord } from "./request-record.ts";

export interface GatewayObserverOptions {
  readonly log: Log;
  readonly metrics: Metrics<typeof gatewayMetrics>;
  readonly trace: Trace;
  readonly accessLog: TelemetryConfig["accessLog"];
  /** Names that are counted by themselves. */
  readonly knownClients: readonly string[];
  readonly knownOperations: readonly string[];
}

/** Codes in an answer that are our fault, and not the client's. */
const ourFault = /^(?:INTERNAL_SERVER_ERROR|SERVICE_UNAVAILABLE|SUBGRAPH_\w+|INVALID_FIELD_VALUE)$/;
const methodOf = createKnownValues(["GET", "HEAD", "POST", "OPTIONS"]);

/** @returns undefined if all telemetry of requests is off. */
export function createGatewayRequestObserver(o: GatewayObserverOptions): RequestObserver<RequestRecord> | undefined {
  const { metrics, trace } = o;
  if (!metrics.isOn && !trace.isOn && o.accessLog === "off") return undefined;
  const gauge = metrics.gauge("tributary_gateway_requests_in_flight");
  return createRequestObserver({
    trace,
    methodOf,
    createRecord(span) {
      const record = new RequestRecord(span);
      record.enter("admit");
      return record;
    },
    onFinished: createReport(o),
    onScrape: (readInFlight) => gauge.onScrape((series) => series.set({}, readInFlight())),
  });
}

/** What is known of a request at its end, in words of ours. */
interface Summary {
  readonly lane: RequestRecord["lane"];
  readonly client: string;
  readonly operation: string;
  readonly status: number;
  readonly outcome: RequestRecord["outcome"];
}

function createReport(o: GatewayObserverOptions): (finished: FinishedRequest<RequestRecord>) => void {
  const clientOf = createKnownValues(o.knownClients);
  const operationOf = createOperationLabels(o.knownOperations);
  const count = createCounting(o.metrics);

  return ({ record, request, requestId, status, milliseconds }) => {
    const { lane, span, outcome = lane && "aborted" } = record;
    const hasFailed =
      status >= 500 || record.failures !== undefined || record.codes.some((code) => ourFault.test(code));
    const isLogged = isAccessLogged(o.accessLog, { span, hasFailed });
    // Where only failures are written most requests end here.
    if (!isLogged && !o.metrics.isOn && span === undefined) return;
    const client = clientOf(readClientName(request.headers));
    const summary: Summary = { lane, client, operation: operationOf(record, outcome), status, outcome };
    count(summary, record, milliseconds / 1_000);
    if (span) endSpan(record, summary);
    if (!isLogged) return;
    const reasons = record.failures && { failures: record.failures };
    o.log.info(
      {
        ...recordFields({ requestId, traceId: record.traceId, span }),
        ...summary,
        ...record.admitted?.identity,
        ...reasons,
        milliseconds: roundMilliseconds(milliseconds),
      },
      "answered",
    );
  };
}

/** Requests of an operation with this name that are counted as `other` before it has its own label. */
const operationRequestsMin = 100;

function createOperationLabels(known: readonly string[]) {
  const labels = createLearnedValues({ known, valuesMax: operationLabelsMax, occurrencesMin: operationRequestsMin });
  return ({ admitted, requestedName }: RequestRecord, outcome: RequestRecord["outcome"]): string => {
    if (admitted === undefined) return labels.find(requestedName);
    const { operationName } = admitted.identity;
    return outcome === "refused" ? labels.find(operationName) : labels.count(operationName);
  };
}

function createCounting(metrics: GatewayObserverOptions["metrics"]) {
  const requests = metrics.counter("tributary_gateway_requests_total");
  const requestSeconds = metrics.histogram("tributary_gateway_request_duration_seconds");
  const operations = metrics.counter("tributary_gateway_operations_total");
  const operationSeconds = metrics.histogram("tributary_gateway_operation_duration_seconds");
  const errors = metrics.counter("tributary_gateway_errors_total");
  const refused = metrics.counter("tributary_gateway_refused_total");

  return ({ lane, client, operation, status, outcome }: Summary, { codes }: RequestRecord, seconds: number): void => {
    const [code] = codes;
    if (outcome === "refused" && code !== undefined) refused.add({ code });
    if (lane === undefined) return;
    requests.add({ lane, client, status });
    requestSeconds.observe({ lane }, seconds);
    operations.add({ operation, outcome: outcome ?? "aborted" });
    operationSeconds.observe({ operation }, seconds);
    for (const one of codes) errors.add({ code: one });
  };
}

function endSpan(record: RequestRecord, { lane, client, operation, status, outcome }: Summary): void {
  const { span, admitted, codes } = record;
  if (!span) return;
  record.leave();
  span.set("http.response.status_code", status);
  if (lane !== undefined) {
    span.rename(admitted === undefined ? "/graphql" : `${admitted.operation.operation} ${operation}`);
    span.set("http.route", "/graphql");
    span.set("url.path", "/graphql");
    span.set("tributary.lane", lane);
    span.set("tributary.client", client);
    if (admitted !== undefined) identify(span, admitted);
  }
  if (status >= 500 || outcome === "failed") span.fail(codes[0] ?? String(status));
  span.end();
}

/** OpenTelemetry's `graphql.document` is the text, which can hold personal data, and there is no attribute for a hash: that is ours. */
function identify(span: Span, { operation, identity }: NonNullable<RequestRecord["admitted"]>): void {
  span.set("graphql.operation.type", operation.operation);
  span.set("tributary.document_hash", identity.documentHash);
  if (identity.operationName !== undefined) span.set("graphql.operation.name", identity.operationName);
}
