import type { SpanRecord } from "./span-record.ts";

export interface ExportThreadData {
  readonly url: string;
  readonly serviceName: string;
  readonly version: string;
  /** Unless OTEL_RESOURCE_ATTRIBUTES sets `service.instance.id`. */
  readonly instanceId: string;
  /** Which a thread does not inherit; undefined if the cache is disabled. */
  readonly compileCacheFolder: string | undefined;
}

/** The thread has loaded its modules. Batches of spans are numbered from 1. */
export const startupNumber = 0;

export interface ExportTask {
  readonly batchNumber: number;
  readonly spans: readonly SpanRecord[];
}

export interface ExportResult {
  readonly batchNumber: number;
  /** Undefined if the collector has accepted the spans. */
  readonly problem: ExportProblem | undefined;
}

export interface ExportProblem {
  readonly name: string;
  readonly message: string;
  /** The HTTP status of the collector's response, or the code of a system error. */
  readonly code?: string | number;
}
