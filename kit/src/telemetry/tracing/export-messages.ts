import type { SpanRecord } from "./span-record.ts";

/** The start data of the thread that exports spans. */
export interface ExportThreadData {
  /** The URL of the collector, with its path. */
  readonly url: string;
  /** The process's name in traces. */
  readonly serviceName: string;
  readonly version: string;
  /** Identifies the process, unless OTEL_RESOURCE_ATTRIBUTES sets `service.instance.id`. */
  readonly instanceId: string;
  /** The folder of Node's compile cache, which a thread does not inherit; undefined if the cache is disabled. */
  readonly compileCacheFolder: string | undefined;
}

/** The batch number of the message by which the thread reports that it has loaded its modules. Batches of spans are numbered from 1. */
export const startupNumber = 0;

/** One batch of spans to export. */
export interface ExportTask {
  readonly batchNumber: number;
  readonly spans: readonly SpanRecord[];
}

/** The result of the task with this number, or that of the start. */
export interface ExportResult {
  readonly batchNumber: number;
  /** Undefined if the collector has accepted the spans. */
  readonly problem: ExportProblem | undefined;
}

/** The properties of an error that are sent between threads. */
export interface ExportProblem {
  readonly name: string;
  readonly message: string;
  /** The HTTP status of the collector's response, or the code of a system error. */
  readonly code?: string | number;
}
