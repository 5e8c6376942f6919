import type { SpanRecord } from "./span-record.ts";

/** What the thread that sends spans is started with. */
export interface ExportThreadData {
  /** Of the collector, with its path. */
  readonly url: string;
  /** What the process is called in traces. */
  readonly serviceName: string;
  readonly version: string;
  /** The process, unless OTEL_RESOURCE_ATTRIBUTES names it otherwise. */
  readonly instanceId: string;
  /** Node's compile cache, which a thread has to be told of. */
  readonly compileCacheFolder: string | undefined;
}

export interface ExportTask {
  readonly number: number;
  readonly spans: readonly SpanRecord[];
}

/** What became of the task with this number; 0 is that the thread has loaded what it needs. */
export interface ExportAnswer {
  readonly number: number;
  /** Undefined: the collector has them. */
  readonly problem: ExportProblem | undefined;
}

/** An error's parts that outlive the way from one thread to another. */
export interface ExportProblem {
  readonly name: string;
  readonly message: string;
  /** HTTP's, when the collector has answered, or a system call's. */
  readonly code?: string | number;
}
