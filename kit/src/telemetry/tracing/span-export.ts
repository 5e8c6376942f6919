import { type ExportThreadOptions, startExportThread } from "./export-thread.ts";
import type { Deliver, SpanRecord } from "./span-record.ts";

export interface SpanExportOptions extends Omit<ExportThreadOptions, "url"> {
  /** As OTEL_EXPORTER_OTLP_ENDPOINT says it: without `/v1/traces`. */
  readonly endpoint: string;
  /** Called when spans begin to be lost, and not again before some have arrived. */
  readonly onLost: (error: Error) => void;
}

export interface SpanExport {
  /** Nobody waits for it. */
  readonly deliver: Deliver;
  /** Sends what waits, and resolves when the collector has received it and all earlier batches, or they are lost. */
  flush(): Promise<void>;
  /** The same; spans that end later are dropped. */
  stop(): Promise<void>;
}

const batchSpansMax = 512;
const batchMs = 5_000;

/**
 * Sends spans to a collector in batches, every 5 s or when 512 wait, as OTLP over HTTP, from a thread of its own. Six batches are under way at
 * the most; further ones are lost, as are those that the collector does not take within 10 s.
 */
export async function createSpanExport({ endpoint, onLost, ...o }: SpanExportOptions): Promise<SpanExport> {
  const send = await createSender({ ...o, url: `${endpoint.replace(/\/+$/, "")}/v1/traces` });
  let waiting: SpanRecord[] = [];
  /** Batches to which the collector has not responded yet. */
  const inFlight = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isLosing = false;
  let isStopped = false;

  async function sendBatch(spans: readonly SpanRecord[]): Promise<void> {
    const error = await send.batch(spans).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error && !isLosing) onLost(error);
    isLosing = error !== undefined;
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length > 0) {
      const batch = sendBatch(waiting).finally(() => inFlight.delete(batch));
      inFlight.add(batch);
      waiting = [];
    }
    await Promise.all(inFlight);
  }

  return {
    deliver(record) {
      if (isStopped) return;
      waiting.push(record);
      if (waiting.length >= batchSpansMax) void flush();
      else timer ??= setTimeout(() => void flush(), batchMs).unref();
    },
    flush,
    async stop() {
      isStopped = true;
      await flush();
      await send.end();
    },
  };
}

/** A thread that ended, for whatever reason, takes what it had with it; there is another one for the next batch. */
async function createSender(o: ExportThreadOptions) {
  let thread = startExportThread(o);
  // What cannot even be loaded is told at the start of the process.
  await thread;

  return {
    async batch(spans: readonly SpanRecord[]): Promise<void> {
      const known = thread;
      const isGone = await known.then(
        (one) => one.isGone(),
        () => true,
      );
      if (isGone && thread === known) thread = startExportThread(o);
      await (await thread).send(spans);
    },
    end: async () => (await thread).end(),
  };
}
