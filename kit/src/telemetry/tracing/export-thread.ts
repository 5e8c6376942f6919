import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import {
  type ExportResult,
  type ExportProblem,
  type ExportTask,
  type ExportThreadData,
  startupNumber,
} from "./export-messages.ts";
import type { SpanRecord } from "./span-record.ts";

/** The main thread's handle of the thread that exports spans. */
export interface ExportThread {
  hasEnded(): boolean;
  /** Resolves when the collector has accepted the spans. @throws Error if it does not, if the thread ends, or if {@link batchesMax} are in flight. */
  send(spans: readonly SpanRecord[]): Promise<void>;
  /** Terminates the thread. */
  end(): Promise<void>;
}

interface PendingTask {
  resolve(): void;
  reject(error: Error): void;
}

export interface ExportThreadOptions extends Omit<ExportThreadData, "compileCacheFolder"> {
  /** The module that runs in the thread. Default export-worker.ts. */
  readonly file?: URL | undefined;
}

/** Batches in flight to a slow collector; further ones are lost. */
const batchesMax = 6;
/** Spans of a few batches and the exporter's code take some 15 MB. */
const oldHeapMbMax = 64;
const youngHeapMbMax = 4;
const workerFile = new URL("./export-worker.ts", import.meta.url);

/**
 * Starts the thread, and resolves when it has loaded its modules. It keeps the process alive only while spans are being sent.
 *
 * The exporter runs in a thread because an HTTP client slows down a server in the same isolate: V8 has optimized the functions of Node's
 * streams for the objects of the server, and deoptimizes some hundred of them in the first minute when it sees those of the client. The
 * exporter reads further variables in the thread, such as OTEL_EXPORTER_OTLP_HEADERS.
 * @throws Error if the thread cannot load its modules.
 */
export async function startExportThread({ file = workerFile, ...data }: ExportThreadOptions): Promise<ExportThread> {
  const worker = new Worker(file, {
    workerData: { ...data, compileCacheFolder: getCompileCacheDir() } satisfies ExportThreadData,
    resourceLimits: { maxOldGenerationSizeMb: oldHeapMbMax, maxYoungGenerationSizeMb: youngHeapMbMax },
    name: "span-export",
  });
  const pending = new Map<number, PendingTask>();
  let lastBatchNumber = startupNumber;
  let hasEnded = false;

  /** Settles when the thread reports the result of this batch, or ends. */
  function resultOf(batchNumber: number): Promise<void> {
    worker.ref();
    return new Promise((resolve, reject) => {
      pending.set(batchNumber, { resolve, reject });
    });
  }

  function settle({ batchNumber, problem }: ExportResult): void {
    const task = pending.get(batchNumber);
    pending.delete(batchNumber);
    if (pending.size === 0) worker.unref();
    if (problem) task?.reject(toError(problem));
    else task?.resolve();
  }

  function failAll(error: Error): void {
    hasEnded = true;
    for (const task of pending.values()) task.reject(error);
    pending.clear();
  }

  worker.on("message", settle);
  worker.on("error", failAll);
  worker.on("exit", (code) => failAll(new Error(`The thread that sends spans ended with code ${code}`)));
  await resultOf(startupNumber);

  return {
    hasEnded: () => hasEnded,
    async send(spans) {
      if (hasEnded) throw new Error("The thread that sends spans has ended");
      if (pending.size >= batchesMax) throw new Error(`${batchesMax} batches of spans are already in flight`);
      lastBatchNumber++;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ batchNumber: lastBatchNumber, spans } satisfies ExportTask);
      await resultOf(lastBatchNumber);
    },
    async end() {
      await worker.terminate();
    },
  };
}

function toError({ name, message, code }: ExportProblem): Error {
  const error = Object.assign(new Error(message), { name });
  return code === undefined ? error : Object.assign(error, { code });
}
