import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "./tracing/trace.ts";

/** What is known of a request under way, for its log lines and for what is counted at its end. */
export interface ServiceRequestRecord {
  readonly requestId: string;
  /** Undefined when the caller told none and the request is not traced here. */
  readonly traceId: string | undefined;
  readonly span: Span | undefined;
  door: "graphql" | "rest" | "other";
  /** From the declarations, never from the URL. */
  route: string;
  /** The code of the service's own failure, whatever the status: a GraphQL response with errors may be a 200. */
  failureCode: string | undefined;
}

/** Finds the request that the running code works for. */
export interface RequestRecords {
  run<T>(record: ServiceRequestRecord, work: () => T): T;
  current(): ServiceRequestRecord | undefined;
}

export function createRequestRecords(): RequestRecords {
  const records = new AsyncLocalStorage<ServiceRequestRecord>();
  return { run: (record, work) => records.run(record, work), current: () => records.getStore() };
}

/**
 * The fields by which log lines of one request are found, here and in other processes; with the names that OpenTelemetry gives them in logs
 * of other formats (Trace Context in non-OTLP Log Formats).
 */
export function recordFields(record: Pick<ServiceRequestRecord, "requestId" | "traceId" | "span"> | undefined): object {
  if (record === undefined) return {};
  const { requestId, traceId, span } = record;
  return {
    requestId,
    ...(traceId === undefined ? {} : { trace_id: traceId }),
    ...(span ? { span_id: span.spanId } : {}),
  };
}
