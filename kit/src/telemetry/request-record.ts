import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "./tracing/trace.ts";

/** What a service records about a request in flight, for its log lines, metrics and span. The last three members change during the request. */
export interface ServiceRequestRecord {
  readonly requestId: string;
  /** Undefined if the caller sent none and the request is not traced. */
  readonly traceId: string | undefined;
  readonly span: Span | undefined;
  endpoint: "graphql" | "rest" | "other";
  /** A declared route, never the URL. */
  route: string;
  /** The code of the service's failure; independent of the status, since a GraphQL response with errors may be a 200. */
  failureCode: string | undefined;
}

/** Keeps the record of the current request in an AsyncLocalStorage, so that code far from the server can find it. */
export interface RequestRecords {
  run<T>(record: ServiceRequestRecord, work: () => T): T;
  /** Undefined outside of a request. */
  current(): ServiceRequestRecord | undefined;
}

export function createRequestRecords(): RequestRecords {
  const records = new AsyncLocalStorage<ServiceRequestRecord>();
  return { run: (record, work) => records.run(record, work), current: () => records.getStore() };
}

/** The fields that all log lines of one request have in common, across processes. Names: OpenTelemetry, "Trace Context in non-OTLP Log Formats". */
export function recordFields(record: Pick<ServiceRequestRecord, "requestId" | "traceId" | "span"> | undefined): object {
  if (record === undefined) return {};
  const { requestId, traceId, span } = record;
  const fields: { requestId: string; trace_id?: string; span_id?: string } = { requestId };
  if (traceId !== undefined) fields.trace_id = traceId;
  if (span) fields.span_id = span.spanId;
  return fields;
}
