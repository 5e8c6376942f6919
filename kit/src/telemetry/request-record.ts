import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "./tracing/trace.ts";

/** The last three members change during the request. */
export interface ServiceRequestRecord {
  readonly requestId: string;
  /** Undefined if the caller sent none and the request is not traced. */
  readonly traceId: string | undefined;
  readonly span: Span | undefined;
  endpoint: "graphql" | "rest" | "other";
  /** A declared route, never the URL. */
  route: string;
  /** Independent of the status, since a GraphQL response with errors may be a 200. */
  failureCode: string | undefined;
}

/** In an AsyncLocalStorage, so that code far from the server can find it. */
export interface RequestRecords {
  run<T>(record: ServiceRequestRecord, work: () => T): T;
  current(): ServiceRequestRecord | undefined;
}

export function createRequestRecords(): RequestRecords {
  const records = new AsyncLocalStorage<ServiceRequestRecord>();
  return { run: (record, work) => records.run(record, work), current: () => records.getStore() };
}

/** Names: OpenTelemetry, "Trace Context in non-OTLP Log Formats". */
export function recordFields(record: Pick<ServiceRequestRecord, "requestId" | "traceId" | "span"> | undefined): object {
  if (record === undefined) return {};
  const { requestId, traceId, span } = record;
  const fields: { requestId: string; trace_id?: string; span_id?: string } = { requestId };
  if (traceId !== undefined) fields.trace_id = traceId;
  if (span) fields.span_id = span.spanId;
  return fields;
}
