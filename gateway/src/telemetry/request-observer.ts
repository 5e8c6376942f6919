// Counts, traces and logs each client request when its response is closed: metrics, the request's span and the access log line.
import { isClientCode } from "../errors/codes.ts";
import { readClientName } from "@tributary/kit/caller/client-program";
import { deadlineHeader, readClientDeadline, toServiceDeadline } from "@tributary/kit/http/deadline";
import type { Log } from "@tributary/kit/process/log";
import { type AccessLog, createAccessLog } from "@tributary/kit/telemetry/access-log";
import type { FailureKind } from "@tributary/kit/telemetry/failure-log";
import { createKnownValues, createLearnedValues } from "@tributary/kit/telemetry/metrics/known-values";
import type { gatewayMetrics } from "@tributary/kit/telemetry/metrics/declarations/gateway-metrics";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { TelemetryConfig } from "@tributary/kit/process/telemetry-config";
import type { Span, Trace } from "@tributary/kit/telemetry/tracing/trace";
import { recordFields } from "@tributary/kit/telemetry/request-record";
import {
  createRequestObserver,
  type FinishedRequest,
  type RequestObserver,
  roundMilliseconds,
} from "@tributary/kit/telemetry/request-observer";
import { operationMetricLabelsMax } from "../config.ts";
import type { TrustedDocument } from "../engine/parse/trusted-documents.ts";
import { GraphqlRequestRecord } from "./request-record.ts";

export interface GatewayRequestObserverOptions {
  readonly log: Log;
  readonly metrics: Metrics<typeof gatewayMetrics>;
  readonly trace: Trace;
  readonly accessLog: TelemetryConfig["accessLog"];
  readonly knownClients: readonly string[];
  readonly knownOperations: readonly string[];
}

/** Codes in `errors[]` that are failures of the platform, not of the client. `SUBGRAPH_ERROR` is among them. */
const platformFailureCodes =
  /^(?:INTERNAL_SERVER_ERROR|SERVICE_UNAVAILABLE|DEADLINE_EXCEEDED|SUBGRAPH_\w+|INVALID_FIELD_VALUE)$/;
/** At the client's own deadline they are no failures: a working service may take longer. */
const lateCodes: ReadonlySet<string> = new Set(["DEADLINE_EXCEEDED", "SUBGRAPH_TIMEOUT"]);
const methodOf = createKnownValues(["GET", "HEAD", "POST", "QUERY", "OPTIONS"]);

/** The observer for admit/exchange.ts. Undefined if metrics, traces and the access log are all off: requests then have no record. */
export function createGatewayRequestObserver(
  o: GatewayRequestObserverOptions,
): RequestObserver<GraphqlRequestRecord> | undefined {
  const { metrics, trace } = o;
  if (!metrics.isOn && !trace.isOn && o.accessLog === "off") return undefined;
  const accessLog = createAccessLog<FailedOperationKind>(o.log, o.accessLog, "operation");
  return createRequestObserver({
    trace,
    methodOf,
    createRecord(span) {
      const record = new GraphqlRequestRecord(span);
      record.enter("admit");
      return record;
    },
    onFinished: createRequestReporter(o, accessLog),
    gauge: metrics.gauge("tributary_gateway_requests_in_flight"),
    onClose: () => accessLog.close(),
  });
}

/** `service` and `code` are those of the first failed fetch; without one, `code` is the response's. */
interface FailedOperationKind extends FailureKind {
  readonly operation: string;
  readonly status: number;
  readonly code: string | undefined;
}

/** None of it is unvalidated client text. */
interface RequestSummary {
  readonly path: GraphqlRequestRecord["path"];
  readonly client: string;
  /** False: the client only claims its name. */
  readonly clientVerified: boolean;
  readonly operation: string;
  readonly status: number;
  readonly outcome: GraphqlRequestRecord["outcome"];
}

function createRequestReporter(
  o: GatewayRequestObserverOptions,
  accessLog: AccessLog<FailedOperationKind>,
): (finished: FinishedRequest<GraphqlRequestRecord>) => void {
  const clientOf = createKnownValues(o.knownClients);
  const operationOf = createOperationLabels(o);
  const countRequest = createRequestCounts(o.metrics);

  return ({ record, request, requestId, status, milliseconds }) => {
    const { path, span } = record;
    const isOperation = path !== undefined;
    // An operation without an outcome is aborted: the client disconnected before its response was known.
    const outcome = record.outcome ?? (isOperation ? "aborted" : undefined);
    const failedFetch = record.failures?.[0];
    const clientDeadline = () => toServiceDeadline(readClientDeadline(request.headers[deadlineHeader], 0));
    const isFailure = (code: string) =>
      platformFailureCodes.test(code) && !(lateCodes.has(code) && milliseconds >= clientDeadline());
    const failureCode = failedFetch?.reason ?? record.codes.find(isFailure);
    // Admission counts it: a rejection has to cost little.
    const isRejectedByAdmission = record.codes[0] === "OVERLOADED";
    const hasFailed = (status >= 500 && !isRejectedByAdmission) || failureCode !== undefined;
    const isLogged = accessLog.isWanted(span, hasFailed);
    const isObserved = isLogged || o.metrics.isOn || span !== undefined;
    // With ACCESS_LOG alone, most requests return here.
    if (!isObserved) return;
    const client = clientOf(record.client?.name ?? readClientName(request.headers));
    const clientVerified = record.client?.isVerified ?? false;
    const operation = operationOf(record, outcome);
    const summary: RequestSummary = { path, client, clientVerified, operation, status, outcome };
    countRequest(summary, record, milliseconds / 1_000);
    if (span) endSpan(record, summary);
    if (!isLogged) return;
    const failure = hasFailed
      ? { service: failedFetch?.service, operation, status, code: failureCode ?? record.codes[0] }
      : undefined;
    const failures = record.failures && { failures: record.failures };
    accessLog.write(span, failure, {
      ...recordFields({ requestId, traceId: record.traceId, span }),
      ...summary,
      ...record.validated?.identity,
      ...failures,
      milliseconds: roundMilliseconds(milliseconds),
    });
  };
}

/** The first 100 requests with an operation name are counted as `other`. The next request gives the name its own label value. */
const operationRequestsMin = 100;

/** Only a validated operation that was not rejected later counts towards a label, so that clients cannot add labels with invalid requests. */
function createOperationLabels({ knownOperations, metrics }: GatewayRequestObserverOptions) {
  const labels = createLearnedValues({
    known: knownOperations,
    valuesMax: operationMetricLabelsMax,
    occurrencesMin: operationRequestsMin,
    onReleased: (operation) => metrics.remove({ operation }),
  });
  const labelOfDocument = createDocumentLabels();
  return (
    { document, validated, requestedName }: GraphqlRequestRecord,
    outcome: GraphqlRequestRecord["outcome"],
  ): string => {
    if (document) return labelOfDocument(document, validated?.identity.operationName);
    if (validated === undefined) return labels.find(requestedName);
    const { operationName } = validated.identity;
    return outcome === "rejected" ? labels.find(operationName) : labels.count(operationName);
  };
}

/** Each is a label value of a histogram. */
const documentLabelsMax = 500;

/** The client and the operation of a registered document, so requests for others do not change it. Later names are `other`. */
function createDocumentLabels() {
  const labels = new Set<string>();
  return ({ client, operationNames: [first] }: TrustedDocument, operationName = first ?? "unnamed"): string => {
    const label = `${client}/${operationName}`;
    if (labels.size >= documentLabelsMax && !labels.has(label)) return "other";
    labels.add(label);
    return label;
  };
}

const subgraphCodeLabelsMax = 100;

function createRequestCounts(metrics: GatewayRequestObserverOptions["metrics"]) {
  const requests = metrics.counter("tributary_gateway_requests_total");
  const requestSeconds = metrics.histogram("tributary_gateway_request_duration_seconds");
  const operations = metrics.counter("tributary_gateway_operations_total");
  const operationSeconds = metrics.histogram("tributary_gateway_operation_duration_seconds");
  const errors = metrics.counter("tributary_gateway_errors_total");
  const rejected = metrics.counter("tributary_gateway_rejected_total");
  const deprecated = metrics.counter("tributary_gateway_deprecated_requests_total");
  const documents = metrics.counter("tributary_gateway_documents_total");
  const codeLabelOf = createCodeLabels();

  return (
    { path, client, clientVerified, operation, status, outcome }: RequestSummary,
    { codes, deprecations, isTrusted }: GraphqlRequestRecord,
    seconds: number,
  ): void => {
    // A rejected request counts once, by its first code.
    const [code] = codes;
    if (outcome === "rejected" && code !== undefined) rejected.add({ code, status });
    // Not an operation: a preflight, a page, or another URL.
    if (path === undefined) return;
    requests.add({ path, client, status });
    requestSeconds.observe({ path }, seconds);
    if (isTrusted !== undefined) documents.add({ client, document: isTrusted ? "known" : "unknown" });
    // `??` is only for the type: `outcome` is defined if `path` is.
    operations.add({ operation, outcome: outcome ?? "aborted" });
    operationSeconds.observe({ operation }, seconds);
    if (deprecations) {
      const verified = String(clientVerified);
      for (const { coordinate } of deprecations) deprecated.add({ element: coordinate, client, verified });
    }
    for (const errorCode of codes) errors.add({ code: codeLabelOf(errorCode) });
  };
}

/** The gateway's own, and the first codes of subgraphs that are seen: with `codes: all` in gateway.yaml a subgraph could send any number. */
function createCodeLabels(): (code: string) => string {
  const subgraphCodes = new Set<string>();
  return (code) => {
    if (isClientCode(code) || subgraphCodes.has(code)) return code;
    if (subgraphCodes.size >= subgraphCodeLabelsMax) return "other";
    subgraphCodes.add(code);
    return code;
  };
}

function endSpan(record: GraphqlRequestRecord, { path, client, operation, status, outcome }: RequestSummary): void {
  const { span, validated, codes } = record;
  if (!span) return;
  record.leave();
  span.set("http.response.status_code", status);
  if (path !== undefined) {
    span.rename(validated === undefined ? "/graphql" : `${validated.operation.operation} ${operation}`);
    span.set("http.route", "/graphql");
    span.set("url.path", "/graphql");
    span.set("tributary.path", path);
    span.set("tributary.client", client);
    if (validated !== undefined) setOperationAttributes(span, validated);
  }
  if (status >= 500 || outcome === "failed") span.fail(codes[0] ?? String(status));
  span.end();
}

/**
 * OpenTelemetry's `graphql.document` is the text, which can contain personal data. OpenTelemetry has no attribute for its hash, so the hash is
 * `tributary.document_hash`.
 */
function setOperationAttributes(
  span: Span,
  { operation, identity }: NonNullable<GraphqlRequestRecord["validated"]>,
): void {
  span.set("graphql.operation.type", operation.operation);
  span.set("tributary.document_hash", identity.documentHash);
  if (identity.operationName !== undefined) span.set("graphql.operation.name", identity.operationName);
}
