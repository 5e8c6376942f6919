import { type ExportThreadOptions, startExportThread } from "./export-thread.ts";
import type { Deliver, SpanRecord } from "./span-record.ts";

export interface SpanExportOptions extends Omit<ExportThreadOptions, "url"> {
  /** OTEL_EXPORTER_OTLP_ENDPOINT, without `/v1/traces`. */
  readonly endpoint: string;
  /** A batch is lost; not again before another one has been accepted. */
  readonly onLost: (error: Error) => void;
}

export interface SpanExport {
  readonly deliver: Deliver;
  /** Resolves when the queued spans and all earlier batches are delivered or lost. */
  flush(): Promise<void>;
  /** Like `flush`; spans that end later are dropped. */
  stop(): Promise<void>;
}

const batchSpansMax = 512;
const batchMs = 5_000;
const trailingSlashes = /\/+$/;

/** Every 5 s or when 512 are queued. At most six batches are in flight; further ones are lost, and those not accepted within 10 s. */
export async function createSpanExport(options: SpanExportOptions): Promise<SpanExport> {
  const { endpoint, onLost, ...threadOptions } = options;
  const url = `${endpoint.replace(trailingSlashes, "")}/v1/traces`;
  const sender = await createSender({ ...threadOptions, url });
  let queue: SpanRecord[] = [];
  const inFlight = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let wasLastBatchLost = false;
  let isStopped = false;

  /** Never rejects. */
  async function sendBatch(spans: readonly SpanRecord[]): Promise<void> {
    const error = await sender.send(spans).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error && !wasLastBatchLost) onLost(error);
    wasLastBatchLost = error !== undefined;
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (queue.length > 0) {
      const batch = sendBatch(queue).finally(() => inFlight.delete(batch));
      inFlight.add(batch);
      queue = [];
    }
    await Promise.all(inFlight);
  }

  return {
    deliver(record) {
      if (isStopped) return;
      queue.push(record);
      if (queue.length >= batchSpansMax) void flush();
      else timer ??= setTimeout(() => void flush(), batchMs).unref();
    },
    flush,
    async stop() {
      isStopped = true;
      await flush();
      await sender.end();
    },
  };
}

/** If the thread ends, the batches in flight are lost, and the next batch starts another one. */
async function createSender(options: ExportThreadOptions) {
  let startedThread = startExportThread(options);
  // Awaited, so that a module that cannot be loaded fails the start of the process.
  await startedThread;

  return {
    async send(spans: readonly SpanRecord[]): Promise<void> {
      const previousThread = startedThread;
      // Also true for a thread that could not be started.
      const hasEnded = await previousThread.then(
        (previous) => previous.hasEnded(),
        () => true,
      );
      const isReplaced = startedThread !== previousThread;
      if (hasEnded && !isReplaced) startedThread = startExportThread(options);
      const thread = await startedThread;
      await thread.send(spans);
    },
    async end(): Promise<void> {
      const thread = await startedThread;
      await thread.end();
    },
  };
}
