import { type ExportThreadOptions, startExportThread } from "./export-thread.ts";
import type { Deliver, SpanRecord } from "./span-record.ts";

export interface SpanExportOptions extends Omit<ExportThreadOptions, "url"> {
  /** OTEL_EXPORTER_OTLP_ENDPOINT, without `/v1/traces`. */
  readonly endpoint: string;
  /** Called when a batch is lost, and not again before another one has been accepted. */
  readonly onLost: (error: Error) => void;
}

export interface SpanExport {
  /** Queues a span; does not wait. */
  readonly deliver: Deliver;
  /** Sends the queued spans. Resolves when these and all earlier batches are delivered or lost. */
  flush(): Promise<void>;
  /** Like `flush`; spans that end later are dropped. */
  stop(): Promise<void>;
}

const batchSpansMax = 512;
const batchMs = 5_000;

/**
 * Sends spans to a collector from a separate thread, as OTLP over HTTP, in batches: every 5 s or when 512 are queued. At most six batches are
 * in flight; further ones are lost, and so are batches that the collector does not accept within 10 s. Called by telemetry.ts if traces are on.
 */
export async function createSpanExport({ endpoint, onLost, ...o }: SpanExportOptions): Promise<SpanExport> {
  const sender = await createSender({ ...o, url: `${endpoint.replace(/\/+$/, "")}/v1/traces` });
  let queue: SpanRecord[] = [];
  /** Batches to which the collector has not responded yet. */
  const inFlight = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isLosing = false;
  let isStopped = false;

  async function sendBatch(spans: readonly SpanRecord[]): Promise<void> {
    const error = await sender.batch(spans).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error && !isLosing) onLost(error);
    isLosing = error !== undefined;
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

/** Starts the export thread. If it ends, the batches in flight are lost, and the next batch starts another one. */
async function createSender(o: ExportThreadOptions) {
  let thread = startExportThread(o);
  // Awaited, so that a module that cannot be loaded fails the start of the process.
  await thread;

  return {
    async batch(spans: readonly SpanRecord[]): Promise<void> {
      const current = thread;
      // True for a thread that could not be started too.
      const hasEnded = await current.then(
        (one) => one.hasEnded(),
        () => true,
      );
      // Another batch may have started the next thread already.
      if (hasEnded && thread === current) thread = startExportThread(o);
      await (await thread).send(spans);
    },
    end: async () => (await thread).end(),
  };
}
