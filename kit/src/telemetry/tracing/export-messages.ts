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
  /** Node's compile cache, which a thread does not inherit. */
  readonly compileCacheFolder: string | undefined;
}

export interface ExportTask {
  readonly number: number;
  readonly spans: readonly SpanRecord[];
}

/** The result of the task with this number. Number 0 reports that the thread has loaded its modules. */
export interface ExportResult {
  readonly number: number;
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
