import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { ExportAnswer, ExportProblem, ExportTask, ExportThreadData } from "./export-messages.ts";
import type { SpanRecord } from "./span-record.ts";

/** The thread that sends spans, as the main thread sees it. */
export interface ExportThread {
  /** Nothing more comes back from it. */
  isGone(): boolean;
  /** Resolves when the collector has them. @throws Error when it does not take them, or the thread ends, or {@link batchesMax} are under way. */
  send(spans: readonly SpanRecord[]): Promise<void>;
  /** Resolves when it is gone. */
  end(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

export interface ExportThreadOptions extends Omit<ExportThreadData, "compileCacheFolder"> {
  /** What runs in the thread; ours unless given. */
  readonly file?: URL | undefined;
}

/** A collector that takes its time has so many at most; what comes then is lost. */
const batchesMax = 6;
/** Spans of a few batches and the exporter's code take some 15 MB. */
const oldHeapMbMax = 64;
const youngHeapMbMax = 4;
const ownFile = new URL("./export-worker.ts", import.meta.url);

/**
 * Starts it, and resolves when it has loaded what it needs. It keeps the process alive only while spans are under way.
 *
 * A thread of its own, because a client of `node:http` beside a server costs the server: V8 has compiled the functions of Node's streams for
 * the server's kinds of objects, throws that away when the client's come by, and compiles them anew, for a hundred functions in a process's
 * first minute. The exporter reads further variables there by itself, such as OTEL_EXPORTER_OTLP_HEADERS.
 * @throws Error when it cannot be loaded.
 */
export async function startExportThread({ file = ownFile, ...data }: ExportThreadOptions): Promise<ExportThread> {
  const worker = new Worker(file, {
    workerData: { ...data, compileCacheFolder: getCompileCacheDir() } satisfies ExportThreadData,
    resourceLimits: { maxOldGenerationSizeMb: oldHeapMbMax, maxYoungGenerationSizeMb: youngHeapMbMax },
    name: "span-export",
  });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let gone = false;

  function settle({ number, problem }: ExportAnswer): void {
    const one = waiting.get(number);
    waiting.delete(number);
    if (waiting.size === 0) worker.unref();
    if (problem) one?.reject(toError(problem));
    else one?.resolve();
  }

  function lose(error: Error): void {
    gone = true;
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
  }

  worker.on("message", settle);
  worker.on("error", lose);
  worker.on("exit", (code) => lose(new Error(`The thread that sends spans ended with code ${code}`)));
  await answerTo(0);

  function answerTo(number: number): Promise<void> {
    worker.ref();
    return new Promise((resolve, reject) => void waiting.set(number, { resolve, reject }));
  }

  return {
    isGone: () => gone,
    async send(spans) {
      if (gone) throw new Error("The thread that sends spans is gone");
      if (waiting.size >= batchesMax) throw new Error(`${batchesMax} batches of spans are under way already`);
      last++;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ number: last, spans } satisfies ExportTask);
      await answerTo(last);
    },
    async end() {
      await worker.terminate();
    },
  };
}

function toError({ name, message, code }: ExportProblem): Error {
  return Object.assign(new Error(message), { name, ...(code !== undefined && { code }) });
}
