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

export interface ExportThread {
  hasEnded(): boolean;
  /** @throws Error if the collector does not accept the spans, if the thread ends, or if {@link batchesMax} are in flight. */
  send(spans: readonly SpanRecord[]): Promise<void>;
  end(): Promise<void>;
}

interface PendingTask {
  resolve(): void;
  reject(error: Error): void;
}

export interface ExportThreadOptions extends Omit<ExportThreadData, "compileCacheFolder"> {
  readonly file?: URL | undefined;
}

/** Further batches are lost. */
const batchesMax = 6;
/** Spans of a few batches and the exporter's code take some 15 MB. */
const oldHeapMbMax = 64;
const youngHeapMbMax = 4;
const workerFile = new URL("./export-worker.ts", import.meta.url);

/**
 * A thread, because an HTTP client slows down a server in the same isolate: V8 has optimized the functions of Node's streams for the
 * objects of the server, and deoptimizes some hundred of them when it sees those of the client. It keeps the process alive only while spans
 * are being sent.
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
